// SPDX-License-Identifier: Apache-2.0
/* Debug information whose owner changes it while it is read: what was measured must stay so. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "dwarffile_open.h"
#include "golang/gofunc.h"
#include "golang/gotype.h"
#include "unit.h"

enum { LONG = 3000, SHORT = 1500, ROUNDS = 4000 };

struct changer {
	atomic_bool end;
	int fd;
	off_t off; /* of the byte that ends the name, and does not, by turns */
};

static void *toggle(void *ctx)
{
	struct changer *changer = ctx;

	for (unsigned i = 0; !changer->end; i++)
		if (pwrite(changer->fd, i % 2 ? "(" : "", 1, changer->off) != 1)
			abort();
	return NULL;
}

/* A function's first parameter has a type of this name. */
static void make_file(struct dwarffile *d, const char *name)
{
	dwarffile_make(d, 23);
	dwarffile_begin(d, "runtime", "runtime");
	uint32_t type = dwarffile_base(d, name, 8, DWARFFILE_INT);
	uint32_t other = dwarffile_base(d, "other", 8, DWARFFILE_INT);

	dwarffile_func(d, "main.b", d->g.starts[1]);
	dwarffile_param(d, "n", type, false);
	dwarffile_param(d, "m", other, false); /* stands behind the name in memory */
	dwarffile_close(d);
	dwarffile_end(d);
}

/* the one or the other, not what is between them */
static void check_name(const char *got, const char *name)
{
	size_t len = strlen(got);

	if ((len != LONG && len != SHORT) || strncmp(got, name, len) != 0)
		fail_msg("a name that there never was, of %zu bytes", len);
}

static void read_it(struct elffile *f, const char *name, uint64_t addr)
{
	struct opened o = {.img = elffile_again(f, NULL)};
	struct gofunc fn;

	assert_non_null(o.img);
	o.types = gotypes_new();
	o.dbg = debuginfo_open(o.img, NULL, 23, o.types, NULL);
	if (o.dbg && debuginfo_func(o.dbg, addr, "main.b", &fn) == 0 && fn.param_count == 2)
		check_name(fn.params[0].type->name, name);
	debuginfo_close(o.dbg);
	gotypes_free(o.types);
	image_close(o.img);
}

static void test_names(void **state)
{
	struct changer changer = {0};
	char name[LONG + 1];
	struct dwarffile d;
	pthread_t thread;

	(void)state;
	memset(name, '(', LONG);
	name[LONG] = '\0';
	make_file(&d, name);
	struct image *img = elffile_open(d.g.f, NULL);

	assert_non_null(img);
	image_close(img);
	uint8_t *at = memmem(d.g.f->data, d.g.f->size, name, LONG);

	assert_non_null(at);
	changer.fd = d.g.f->fd;
	changer.off = at - d.g.f->data + SHORT;
	assert_int_equal(pthread_create(&thread, NULL, toggle, &changer), 0);
	for (unsigned i = 0; i < ROUNDS; i++)
		read_it(d.g.f, name, d.g.starts[1]);
	changer.end = true;
	pthread_join(thread, NULL);
	elffile_free(d.g.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
