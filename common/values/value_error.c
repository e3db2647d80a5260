// SPDX-License-Identifier: Apache-2.0
/* The text that an error's Error() would return, put together from the error's fields, for the most
 * common types of errors. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "values/value_internal.h"
#include "values/value_text_internal.h"
#include "values/value_read_internal.h"

/* {Field}; {Field!}: quoted; {}: the value itself; [...]: left out if the first field in it is
 * empty */
struct form {
	const char *type, *text;
	const char *needs; /* a field that must not be empty */
};

static const struct form FORMS[] = {
	{"*errors.errorString", "{s}", NULL},
	{"*fmt.wrapError", "{msg}", NULL},
	{"*fmt.wrapErrors", "{msg}", NULL},
	{"*fs.PathError", "{Op} {Path}: {Err}", NULL},
	{"*os.PathError", "{Op} {Path}: {Err}", NULL}, /* up to 1.15 */
	{"*os.SyscallError", "{Syscall}: {Err}", NULL},
	{"*os.LinkError", "{Op} {Old} {New}: {Err}", NULL},
	{"*url.Error", "{Op} {URL!}: {Err}", NULL},
	{"*net.OpError", "{Op}[ {Net}] {Source}->{Addr}: {Err}", "Source"},
	{"*net.OpError", "{Op}[ {Net}][ {Addr}]: {Err}", NULL},
	{"*net.DNSError", "lookup {Name}[ on {Server}]: {Err}", NULL},
	{"*net.AddrError", "address {Addr}: {Err}", "Addr"},
	{"*net.AddrError", "{Err}", NULL},
	{"*net.ParseError", "invalid {Type}: {Text}", NULL},
	{"net.UnknownNetworkError", "unknown network {}", NULL},
	{"*net.timeoutError", "i/o timeout", NULL},
	{"*poll.DeadlineExceededError", "i/o timeout", NULL},
	{"poll.errNetClosing", "use of closed network connection", NULL},
	{"net.canceledError", "operation was canceled", NULL},
	{"context.deadlineExceededError", "context deadline exceeded", NULL},
	{"*strconv.NumError", "strconv.{Func}: parsing {Num!}: {Err}", NULL},
	{"*exec.Error", "exec: {Name!}: {Err}", NULL},
	{"*json.SyntaxError", "{msg}", NULL},
	{"*tls.permanentError", "{err}", NULL},
	{"*tls.CertificateVerificationError", "tls: failed to verify certificate: {Err}", NULL},
	{"tls.RecordHeaderError", "tls: {Msg}", NULL},
	{"x509.UnknownAuthorityError",
	 "x509: certificate signed by unknown authority (possibly because of {hintErr!} while "
	 "trying to verify candidate authority certificate ...)",
	 "hintErr"},
	{"x509.UnknownAuthorityError", "x509: certificate signed by unknown authority", NULL},
	{"*http.httpError", "{err}", NULL},
	{"*http.timeoutError", "{err}", NULL},
	{"*http.ProtocolError", "{ErrorString}", NULL},
	{"runtime.errorString", "runtime error: {}", NULL},
	{"runtime.plainError", "{}", NULL},
	/* github.com/pkg/errors, golang.org/x/xerrors */
	{"*errors.fundamental", "{msg}", NULL},
	{"*errors.withMessage", "{msg}: {cause}", NULL},
	{"*errors.withStack", "{error}", NULL},
	{"*errors.joinError", "{errs}", NULL},
	{"rpctypes.EtcdError", "{desc}", NULL},
	{"*status.Error", "{s}", NULL}, /* of gRPC */
	{"*status.Error", "{e}", NULL},
	{"*xerrors.errorString", "{s}", NULL},
	{"*xerrors.wrapError", "{msg}: {err}", NULL},
};

enum { FIELD_NAME_MAX = 32 };

struct filling {
	FILE *out;
	const struct value_source *source;
	const struct value_at *value;
	bool failed; /* a field is missing: it is another type of the same name */
};

/* `text` begins with "{": sets *name and *quoted. Returns what follows. */
static const char *parse_field(const char *text, char name[FIELD_NAME_MAX], bool *quoted)
{
	size_t len = strcspn(text + 1, "!}");

	*quoted = text[1 + len] == '!';
	snprintf(name, FIELD_NAME_MAX, "%.*s", (int)len, text + 1);
	return text + len + (*quoted ? 3 : 2);
}

static bool find_field(struct filling *filling, const char *name, struct value_at *out)
{
	*out = *filling->value;
	if (*name && !value_field(filling->value, name, out))
		filling->failed = true;
	return !filling->failed;
}

static bool is_field_empty(struct filling *filling, const char *name)
{
	struct value_at at;
	uint64_t word;

	if (!find_field(filling, name, &at))
		return true;
	uint32_t skip = at.type->kind == GOTYPE_STRING ? 8 : 0;

	return value_read_word(filling->source, &at, skip, &word) == VALUE_GOT && !word;
}

static bool is_list(const struct gotype *type)
{
	return type->kind == GOTYPE_SLICE && type->elem && type->elem->kind == GOTYPE_INTERFACE;
}

static void fill_string(struct filling *filling, const struct value_at *at, bool quoted)
{
	struct value_bytes bytes;
	enum value_got got = value_read_bytes(filling->source, at, &bytes);

	if (got != VALUE_GOT) {
		fputs(value_why(got), filling->out);
		return;
	}
	bool cut = bytes.len < bytes.count;
	const char *text = (const char *)bytes.bytes;
	size_t len = cut ? value_whole_characters(text, bytes.len) : (size_t)bytes.count;

	if (quoted)
		value_quote(filling->out, text, len);
	else if (len)
		fwrite(text, 1, len, filling->out);
	if (cut)
		fputs("...", filling->out);
}

static void fill_value(struct filling *filling, const struct value_at *at)
{
	struct value_printer printer = {
		.out = filling->out, .source = filling->source, .style = VALUE_GO};

	value_print_part(&printer, at);
}

static void fill_interface(struct filling *filling, const struct value_at *at)
{
	struct value_held held;
	size_t len;
	enum value_got got = value_read_held(filling->source, at, &held);

	if (got != VALUE_GOT) {
		fputs(value_why(got), filling->out);
		return;
	}
	char *message = value_message(filling->source, &held, &len);

	if (message)
		fwrite(message, 1, len, filling->out);
	else
		fill_value(filling, at);
	free(message);
	value_held_free(&held);
}

/* as errors.Join prints them: one per line */
static void fill_list(struct filling *filling, const struct value_at *at)
{
	struct value_bytes bytes;
	enum value_got got = value_read_bytes(filling->source, at, &bytes);

	if (got != VALUE_GOT) {
		fputs(value_why(got), filling->out);
		return;
	}
	uint64_t there = value_slice_there(&bytes, at->type->elem);

	for (uint64_t i = 0; i < there; i++) {
		struct value_element element;

		if (i)
			putc('\n', filling->out);
		value_slice_element(&bytes, at->type->elem, i, &element);
		fill_interface(filling, &element.at);
	}
	if (there < bytes.count)
		fputs("\n...", filling->out);
}

static void fill_field(struct filling *filling, const char *name, bool quoted)
{
	struct value_at at;

	if (!find_field(filling, name, &at))
		return;
	if (at.type->kind == GOTYPE_STRING)
		fill_string(filling, &at, quoted);
	else if (at.type->kind == GOTYPE_INTERFACE)
		fill_interface(filling, &at);
	else if (is_list(at.type))
		fill_list(filling, &at);
	else
		fill_value(filling, &at);
}

/* `text` begins with "[". Returns what follows that if the option's first field is not empty, else
 * what follows its "]". */
static const char *enter_option(struct filling *filling, const char *text)
{
	const char *field = strchr(text, '{');
	char name[FIELD_NAME_MAX];
	bool quoted;

	parse_field(field, name, &quoted);
	return is_field_empty(filling, name) ? strchr(text, ']') + 1 : text + 1;
}

static void fill_text(struct filling *filling, const char *text)
{
	while (*text && !filling->failed) {
		char name[FIELD_NAME_MAX];
		bool quoted;

		if (*text == '{') {
			text = parse_field(text, name, &quoted);
			fill_field(filling, name, quoted);
		} else if (*text == '[') {
			text = enter_option(filling, text);
		} else {
			if (*text != ']')
				putc(*text, filling->out);
			text++;
		}
	}
}

static char *filled(const struct value_source *source, const struct value_at *value,
		    const struct form *form, size_t *len)
{
	char *message = NULL;
	struct filling filling = {.source = source, .value = value};

	if (form->needs && is_field_empty(&filling, form->needs))
		return NULL;
	filling.out = open_memstream(&message, len);
	if (!filling.out)
		return NULL;
	fill_text(&filling, form->text);
	fclose(filling.out);
	if (filling.failed) {
		free(message);
		return NULL;
	}
	return message;
}

/* Go's text for an errno: the C library's with a lower-case first letter. */
static char *errno_message(int64_t number, size_t *len)
{
	enum { ERRNO_MAX = 132 }; /* the last that Go has a text for */
	char *message = NULL;
	FILE *out = open_memstream(&message, len);

	if (!out)
		return NULL;
	const char *text = number > 0 && number <= ERRNO_MAX ? strerrordesc_np((int)number) : NULL;

	if (!text)
		fprintf(out, "errno %" PRId64, number);
	else if (text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a' && text[1] <= 'z')
		fprintf(out, "%c%s", text[0] - 'A' + 'a', text + 1);
	else
		fputs(text, out);
	fclose(out);
	return message;
}

char *value_message_at(const struct value_source *source, const struct value_at *at, size_t *len)
{
	int64_t number;

	if (at->type->kind != GOTYPE_UINT || strcmp(at->type->name, "syscall.Errno") ||
	    value_read_number(source, at, &number) != VALUE_GOT)
		return NULL;
	return errno_message(number, len);
}

/* The form "{name}" of the interface that a struct embeds; false: it embeds none, or several. */
static bool embedded_form(const struct gotype *type, char *form, size_t size)
{
	size_t found = 0;

	for (size_t i = 0; i < type->field_count; i++) {
		const struct gotype_field *field = &type->fields[i];

		if (field->type->kind != GOTYPE_INTERFACE || !field->type->has_methods ||
		    (!field->embedded && strcmp(field->name, "error")))
			continue;
		found++;
		snprintf(form, size, "{%s}", field->name);
	}
	return found == 1 && strlen(form) < FIELD_NAME_MAX;
}

/* the message of a type whose Error() is promoted from an embedded error */
static char *promoted(const struct value_source *source, const struct value_held *held, size_t *len)
{
	const struct gotype *type = held->value.type;
	struct form form = {.needs = NULL};
	char text[FIELD_NAME_MAX + 1];

	if (type->kind != GOTYPE_STRUCT || !source->promotes_error ||
	    !embedded_form(type, text, sizeof(text)) ||
	    !source->promotes_error(source->ctx, held->rtype))
		return NULL;
	form.text = text;
	return filled(source, &held->value, &form, len);
}

char *value_message(const struct value_source *source, const struct value_held *held, size_t *len)
{
	if (!held->type || held->fault || (held->pointer && !held->word))
		return NULL;
	char *message = value_message_at(source, &held->value, len);

	for (size_t i = 0; !message && i < sizeof(FORMS) / sizeof(FORMS[0]); i++) {
		if (!strcmp(FORMS[i].type, held->type->name))
			message = filled(source, &held->value, &FORMS[i], len);
	}
	if (!message)
		message = value_known_text(source, &held->value, len);
	return message ? message : promoted(source, held, len);
}
