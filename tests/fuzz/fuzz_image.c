// SPDX-License-Identifier: Apache-2.0
/* Arbitrary bytes as a file: opening it as an ELF image and a Go program, and walking all that its
 * function table says, must neither crash nor hang. */
#include <string.h>

#include "files/heldfile.h"
#include "fuzz.h"
#include "gofile.h"
#include "program/buildinfo_internal.h"
#include "program/gostack.h"
#include "program/functab_internal.h"

/* more than any seed has; what is walked per function is bounded by the function's size */
enum { MAX_FUNCTIONS = 4000, MAX_NODES = 64, MAX_ADDRESSES = 64 };

static void read_text(const char *text)
{
	volatile size_t len = strlen(text); /* volatile: it must not be left out */

	(void)len;
}

static bool read_symbol(const struct image_symbol *sym, void *ctx)
{
	(void)ctx;
	read_text(sym->name);
	return true;
}

static bool check_run(uint64_t from, uint64_t to, int32_t value, void *ctx)
{
	const struct functab_func *fn = ctx;

	(void)value;
	if (from >= to || from < fn->addr || to > fn->end)
		abort();
	return true;
}

static void walk_addresses(const struct functab *tab, const struct functab_func *fn)
{
	uint64_t step = (fn->end - fn->addr) / MAX_ADDRESSES + 1;
	const char *file;
	int32_t delta;
	int line;

	for (uint64_t addr = fn->addr; addr < fn->end; addr += step) {
		functab_sp_delta(tab, fn, addr, &delta);
		if (functab_line(tab, fn, addr, &file, &line))
			read_text(file);
	}
}

static void walk_function(const struct image *img, const struct functab *tab,
			  struct functab_func *fn)
{
	struct functab_inlined all[MAX_NODES], node;
	int32_t nodes = functab_inlined_count(tab, fn);

	functab_inlined_all(tab, fn, all, nodes < MAX_NODES ? nodes : MAX_NODES);
	read_text(fn->name);
	if (fn->end > fn->addr && !image_at(img, fn->addr, fn->end - fn->addr) &&
	    heldfile_check(image_file(img), NULL) == 0)
		abort();
	for (unsigned i = 0; i < 4; i++) {
		functab_pcdata(tab, fn, i, check_run, fn);
		functab_funcdata(tab, fn, i);
	}
	for (int32_t i = 0; i < nodes && i < MAX_NODES; i++)
		if (functab_inlined(tab, fn, i, &node))
			read_text(node.name);
	walk_addresses(tab, fn);
}

static void walk_table(const struct image *img, const struct functab *tab)
{
	struct functab_func fn, found;

	for (size_t i = 0; i < functab_count(tab) && i < MAX_FUNCTIONS; i++) {
		if (!functab_func(tab, i, &fn))
			continue;
		walk_function(img, tab, &fn);
		if (fn.end > fn.addr && functab_find(tab, fn.addr, &found) && found.addr != fn.addr)
			abort();
	}
	functab_named(tab, "main.main", &fn);
}

/* the stack of functions that all call one another, in the middle of each */
static void walk_stack(const struct image *img, const struct functab *tab)
{
	struct gostack_symbols *syms = gostack_symbols_new(img, tab);
	uint64_t frames[MAX_ADDRESSES];
	struct gostack stack = {.frames = frames, .created_by = 1};
	FILE *out = fopen("/dev/null", "w");
	struct functab_func fn;

	for (size_t i = 0; i < functab_count(tab) && stack.count < MAX_ADDRESSES; i++)
		if (functab_func(tab, i, &fn))
			frames[stack.count++] = fn.addr + (fn.end - fn.addr) / 2;
	gostack_print(out, &stack, syms, true);
	fclose(out);
	gostack_symbols_free(syms);
}

static void walk_image(const struct image *img)
{
	struct functab *tab = functab_open(img, NULL);
	struct image_section sec;
	struct buildinfo info;

	if (buildinfo_read(img, &info))
		read_text(info.version);
	image_section(img, ".text", &sec);
	image_has_symtab(img);
	image_each_symbol(img, read_symbol, NULL);
	if (tab) {
		walk_table(img, tab);
		walk_stack(img, tab);
	}
	functab_close(tab);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_image_file(data, size, walk_image);
}

/* --- seeds: programs of each layout, whole and cut --- */

static void add_symbols(struct elffile *f)
{
	static const Elf64_Sym syms[] = {
		{0}, {.st_name = 1, .st_info = STT_FUNC, .st_shndx = 2, .st_value = ELFFILE_TEXT}};
	Elf64_Shdr *sh = elffile_section(f, ".symtab", ELFFILE_RODATA + 0xc00, sizeof(syms));

	sh->sh_type = SHT_SYMTAB;
	sh->sh_entsize = sizeof(*syms);
	sh->sh_link = f->nsections;
	elffile_bytes(f, ELFFILE_RODATA + 0xc00, syms, sizeof(syms));
	elffile_bytes(f, ELFFILE_RODATA + 0xd00, "\0main.a", 8);
	elffile_section(f, ".strtab", ELFFILE_RODATA + 0xd00, 8)->sh_type = SHT_STRTAB;
}

static void add_relocation(struct elffile *f)
{
	const Elf64_Dyn dyn[] = {{DT_RELA, {ELFFILE_RODATA + 0xe00}}, {DT_RELASZ, {24}}};
	const Elf64_Rela rela = {GOFILE_MODULEDATA, R_X86_64_RELATIVE, GOFILE_TAB};

	elffile_bytes(f, ELFFILE_DATA, dyn, sizeof(dyn));
	elffile_bytes(f, ELFFILE_RODATA + 0xe00, &rela, sizeof(rela));
	elffile_u64(f, GOFILE_MODULEDATA, 0);
	*elffile_segment(f, elffile_header(f)->e_phnum++) = (Elf64_Phdr){
		.p_type = PT_DYNAMIC, .p_offset = ELFFILE_DATA - 0x400000, .p_filesz = 64};
}

/* The same program with its read-only segment last and cut short, so that reads past the segment
 * are reads past the file. */
static uint8_t *rearranged(struct elffile *f, uint64_t rodata_size, size_t *size)
{
	enum { TEXT_END = ELFFILE_RODATA - 0x400000, DATA_SIZE = ELFFILE_DATA_END - ELFFILE_DATA };
	uint8_t *data = malloc(TEXT_END + DATA_SIZE + rodata_size);

	elffile_segment(f, 2)->p_offset = TEXT_END;
	elffile_segment(f, 1)->p_offset = TEXT_END + DATA_SIZE;
	elffile_segment(f, 1)->p_filesz = rodata_size;
	memcpy(data, f->data, TEXT_END);
	memcpy(data + TEXT_END, elffile_at(f, ELFFILE_DATA), DATA_SIZE);
	memcpy(data + TEXT_END + DATA_SIZE, elffile_at(f, ELFFILE_RODATA), rodata_size);
	*size = TEXT_END + DATA_SIZE + rodata_size;
	return data;
}

static uint8_t *whole(struct elffile *f, size_t *size)
{
	uint8_t *data = malloc(f->size);

	elffile_section(f, ".gopclntab", GOFILE_TAB, 0x600);
	elffile_section(f, ".go.module", GOFILE_MODULEDATA, 0x200);
	add_symbols(f);
	add_relocation(f);
	memcpy(data, f->data, f->size);
	*size = f->size;
	return data;
}

uint8_t *fuzz_seed(unsigned index, size_t *size)
{
	static const int releases[] = {15, 17, 19, 21, 26, 27};
	/* ends in the names, the tables, the functab, each record, the inline tree, after all */
	static const uint64_t sizes[] = {0x194, 0x298, 0x320, 0x42c, 0x4c0, 0x540, 0x818, 0x900};
	unsigned variant = index / 6;
	struct gofile g;
	uint8_t *data;

	if (variant > 8)
		return NULL;
	gofile_make(&g, releases[index % 6], index % 3 ? EM_X86_64 : EM_AARCH64);
	elffile_bytes(g.f, ELFFILE_DATA + 0x40, "\xff Go buildinf:\x08\x02", 16);
	elffile_bytes(g.f, ELFFILE_DATA + 0x60, "\x08go1.21.3", 9);
	data = variant == 8 ? whole(g.f, size) : rearranged(g.f, sizes[variant], size);
	elffile_free(g.f);
	return data;
}
