// SPDX-License-Identifier: Apache-2.0
#include "gostacks/labels_print_internal.h"

#include "base/json.h"
#include "golang/quoted.h"
#include "goroutines/snapshot.h"
#include "gostacks/goroutines_print.h"

void labels_print(FILE *out, const struct snapshot *snap, const struct goroutine *g)
{
	const char *before = " {";
	struct snapshot_label label;
	uint64_t at = g->labels;
	bool cut;

	while (snapshot_labels_next(&snap->labels, &at, &label, &cut)) {
		fputs(before, out);
		quoted_print(out, label.key, label.key_len);
		fputs(": ", out);
		quoted_print(out, label.value, label.value_len);
		before = ", ";
	}
	if (cut)
		fprintf(out, "%s...", before);
	if (cut || *before == ',')
		fputc('}', out);
}

void labels_json(struct json *json, const struct goroutines_view *view, const struct goroutine *g)
{
	struct snapshot_label label;
	uint64_t at = g->labels;
	bool cut;

	json_key(json, "labels");
	if (!view->has_labels) {
		json_null(json);
		return;
	}
	json_object(json);
	while (snapshot_labels_next(&view->snap->labels, &at, &label, &cut)) {
		json_key_bytes(json, label.key, label.key_len);
		json_bytes(json, label.value, label.value_len);
	}
	json_object_end(json);
	if (cut) {
		json_key(json, "labels_cut");
		json_bool(json, true);
	}
}
