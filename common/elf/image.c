// SPDX-License-Identifier: Apache-2.0
/* Load segments are read from the program headers alone, as the kernel does, since section headers
 * may be missing or wrong; sections and symbols, where there are any, are image_sections.c's. */
#include "elf/image_internal.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "elf/image_sections_internal.h"
#include "files/heldfile.h"

/* real programs have 2 to 6 segments, and dynamic sections of up to 60 entries */
enum { MAX_SEGMENTS = 256, MAX_DYNAMIC = 4096 };

struct image {
	const char *path;      /* the file's */
	struct heldfile *file; /* relocations are applied to its copy in memory */
	uint64_t size;         /* of the file */
	struct image_sections *sections;
	enum arch arch;
	bool pie;
	struct image_segment *segments;
	size_t nsegments;
	const uint8_t *dynamic; /* PT_DYNAMIC; NULL: none */
	uint64_t dynamic_size;
	uint64_t tls_size, eh_frame;
};

/* --- opening --- */

static int not_elf(const struct image *img, const char *head, struct errmsg *err)
{
	errmsg_set(err, "\"%s\": not an ELF file", img->path);
	if (head && head[0] == '#' && head[1] == '!')
		errmsg_hint(err, "it is a script: name the program that it runs");
	return -1;
}

static int check_header(struct image *img, Elf64_Ehdr *ehdr, struct errmsg *err)
{
	const char *head = heldfile_at(img->file, 0, SELFMAG), *class;

	if (!head || memcmp(head, ELFMAG, SELFMAG) != 0)
		return not_elf(img, head, err);
	class = heldfile_at(img->file, EI_CLASS, 1);
	if (class && *class == ELFCLASS32) /* its header is shorter */
		return errmsg_set(err, "\"%s\": 32-bit programs are not supported", img->path);
	if (img->size < sizeof(*ehdr))
		return errmsg_set(err, "\"%s\": file is truncated: its ELF header is incomplete",
				  img->path);
	if (!heldfile_read(img->file, 0, sizeof(*ehdr), ehdr))
		return heldfile_check(img->file, err);
	if (ehdr->e_ident[EI_DATA] == ELFDATA2MSB)
		return errmsg_set(err, "\"%s\": big-endian programs are not supported", img->path);
	if (ehdr->e_ident[EI_CLASS] != ELFCLASS64 || ehdr->e_ident[EI_DATA] != ELFDATA2LSB)
		return errmsg_set(err, "\"%s\": malformed ELF header", img->path);
	return 0;
}

static int check_machine(struct image *img, const Elf64_Ehdr *ehdr, struct errmsg *err)
{
	if (ehdr->e_machine == EM_X86_64)
		img->arch = ARCH_AMD64;
	else if (ehdr->e_machine == EM_AARCH64)
		img->arch = ARCH_ARM64;
	else
		return errmsg_set(err,
				  "\"%s\": only x86-64 and arm64 programs are supported "
				  "(this is for ELF machine %u)",
				  img->path, ehdr->e_machine);
	if (ehdr->e_type == ET_CORE)
		return errmsg_set(err, "\"%s\": a core dump, not a program", img->path);
	if (ehdr->e_type == ET_REL || !ehdr->e_phnum)
		return errmsg_set(err, "\"%s\": not a program: it has no segments to load",
				  img->path);
	img->pie = ehdr->e_type == ET_DYN;
	return 0;
}

static int add_segment(struct image *img, const Elf64_Phdr *ph, unsigned number, struct errmsg *err)
{
	uint64_t end;

	if (__builtin_add_overflow(ph->p_vaddr, ph->p_memsz, &end) || ph->p_filesz > ph->p_memsz)
		return errmsg_set(err, "\"%s\": malformed: segment %u has an impossible size",
				  img->path, number);
	if (ph->p_offset > img->size || ph->p_filesz > img->size - ph->p_offset)
		return errmsg_set(err, "\"%s\": file is truncated: segment %u ends past its end",
				  img->path, number);
	if (img->nsegments == MAX_SEGMENTS)
		return errmsg_set(err, "\"%s\": malformed: more than %d segments to load",
				  img->path, MAX_SEGMENTS);
	img->segments[img->nsegments++] = (struct image_segment){
		.addr = ph->p_vaddr,
		.memsz = ph->p_memsz,
		.off = ph->p_offset,
		.filesz = ph->p_filesz,
		.write = ph->p_flags & PF_W,
		.exec = ph->p_flags & PF_X,
	};
	return 0;
}

/* Some packers leave nonsense here; such files have no relocations to read. */
static void set_dynamic(struct image *img, const Elf64_Phdr *ph)
{
	uint64_t max = MAX_DYNAMIC * sizeof(Elf64_Dyn);

	img->dynamic_size = ph->p_filesz < max ? ph->p_filesz : max;
	img->dynamic = heldfile_at(img->file, ph->p_offset, img->dynamic_size);
}

static int read_segments(struct image *img, const Elf64_Ehdr *ehdr, struct errmsg *err)
{
	uint64_t need = (uint64_t)ehdr->e_phnum * sizeof(Elf64_Phdr);

	if (ehdr->e_phentsize != sizeof(Elf64_Phdr) || ehdr->e_phnum == PN_XNUM)
		return errmsg_set(err, "\"%s\": malformed program headers", img->path);
	if (ehdr->e_phoff > img->size || need > img->size - ehdr->e_phoff)
		return errmsg_set(err,
				  "\"%s\": file is truncated: it ends before its program "
				  "headers do",
				  img->path);
	const uint8_t *table = heldfile_at(img->file, ehdr->e_phoff, need);

	img->segments = mem_zalloc(MAX_SEGMENTS, sizeof(*img->segments));
	for (unsigned i = 0; table && i < ehdr->e_phnum; i++) {
		Elf64_Phdr ph;

		memcpy(&ph, table + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_DYNAMIC)
			set_dynamic(img, &ph);
		if (ph.p_type == PT_GNU_EH_FRAME)
			img->eh_frame = ph.p_vaddr;
		if (ph.p_type == PT_TLS && ph.p_align)
			img->tls_size = (ph.p_memsz + ph.p_align - 1) / ph.p_align * ph.p_align;
		if (ph.p_type == PT_LOAD && add_segment(img, &ph, i, err) < 0)
			return -1;
	}
	if (!img->nsegments)
		return errmsg_set(err, "\"%s\": not a program: it has no segments to load",
				  img->path);
	return 0;
}

/* --- relocations --- */

bool image_dynamic(const struct image *img, int64_t tag, size_t n, uint64_t *value)
{
	for (uint64_t off = 0; img->dynamic && img->dynamic_size - off >= sizeof(Elf64_Dyn);
	     off += sizeof(Elf64_Dyn)) {
		Elf64_Dyn dyn;

		memcpy(&dyn, img->dynamic + off, sizeof(dyn));
		if (dyn.d_tag == DT_NULL)
			break;
		if (dyn.d_tag == tag && n-- == 0) {
			*value = dyn.d_un.d_val;
			return true;
		}
	}
	return false;
}

static void relocate_word(struct image *img, uint64_t addr, uint64_t value)
{
	uint8_t *word = (uint8_t *)image_at(img, addr, sizeof(value));

	if (word)
		memcpy(word, &value, sizeof(value));
}

/* The value of a symbol that this file defines; false: it does not. */
static bool own_symbol(const struct image *img, uint64_t table, uint32_t index, uint64_t *value)
{
	const void *at =
		image_at(img, table + (uint64_t)index * sizeof(Elf64_Sym), sizeof(Elf64_Sym));
	Elf64_Sym sym = {0};

	if (!table || !index || !at)
		return false;
	memcpy(&sym, at, sizeof(sym));
	*value = sym.st_value;
	return sym.st_shndx != SHN_UNDEF && sym.st_shndx != SHN_ABS &&
	       ELF64_ST_TYPE(sym.st_info) != STT_GNU_IFUNC;
}

static void apply_rela(struct image *img, uint64_t addr, uint64_t size)
{
	bool amd64 = img->arch == ARCH_AMD64;
	unsigned relative = amd64 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE;
	unsigned symbolic = amd64 ? R_X86_64_64 : R_AARCH64_ABS64;
	uint64_t left = image_left(img, addr), symbols = 0, value;

	image_dynamic(img, DT_SYMTAB, 0, &symbols);

	if (size > left)
		size = left;

	const uint8_t *table = image_at(img, addr, size);

	if (!table)
		return;
	for (uint64_t off = 0; size - off >= sizeof(Elf64_Rela); off += sizeof(Elf64_Rela)) {
		Elf64_Rela rela;

		memcpy(&rela, table + off, sizeof(rela));
		if (ELF64_R_TYPE(rela.r_info) == relative)
			relocate_word(img, rela.r_offset, rela.r_addend);
		else if (ELF64_R_TYPE(rela.r_info) == symbolic &&
			 own_symbol(img, symbols, ELF64_R_SYM(rela.r_info), &value))
			relocate_word(img, rela.r_offset, value + rela.r_addend);
	}
}

/* Only DT_RELA can leave zeros in the file: DT_RELR keeps its addends in the words themselves,
 * which are right already for load bias 0. */
static void apply_relocations(struct image *img)
{
	uint64_t rela, size;

	if (image_dynamic(img, DT_RELA, 0, &rela) && image_dynamic(img, DT_RELASZ, 0, &size))
		apply_rela(img, rela, size);
}

static int read_image(struct image *img, struct errmsg *err)
{
	Elf64_Ehdr ehdr;

	if (check_header(img, &ehdr, err) < 0 || check_machine(img, &ehdr, err) < 0 ||
	    read_segments(img, &ehdr, err) < 0)
		return -1;
	apply_relocations(img);
	img->sections = image_sections_new(img->file);
	return heldfile_check(img->file, err);
}

struct image *image_open(struct heldfile *file, struct errmsg *err)
{
	struct image *img = mem_zalloc(1, sizeof(*img));

	img->file = heldfile_share(file);
	img->path = heldfile_path(file);
	img->size = heldfile_size(file);
	if (read_image(img, err) == 0)
		return img;
	image_close(img);
	return NULL;
}

void image_close(struct image *img)
{
	if (!img)
		return;
	image_sections_free(img->sections);
	free(img->segments);
	heldfile_close(img->file);
	free(img);
}

/* --- what it holds --- */

const char *image_path(const struct image *img)
{
	return img->path;
}

struct heldfile *image_file(const struct image *img)
{
	return img->file;
}

const struct image_sections *image_sections(const struct image *img)
{
	return img->sections;
}

enum arch image_arch(const struct image *img)
{
	return img->arch;
}

bool image_is_pie(const struct image *img)
{
	return img->pie;
}

const struct image_segment *image_segments(const struct image *img, size_t *count)
{
	*count = img->nsegments;
	return img->segments;
}

static const struct image_segment *segment_of(const struct image *img, uint64_t addr)
{
	for (size_t i = 0; i < img->nsegments; i++) {
		const struct image_segment *seg = &img->segments[i];

		if (addr >= seg->addr && addr - seg->addr < seg->filesz)
			return seg;
	}
	return NULL;
}

uint64_t image_left(const struct image *img, uint64_t addr)
{
	const struct image_segment *seg = segment_of(img, addr);

	return seg ? seg->filesz - (addr - seg->addr) : 0;
}

const void *image_at(const struct image *img, uint64_t addr, size_t len)
{
	const struct image_segment *seg = segment_of(img, addr);

	if (!seg || len > seg->filesz - (addr - seg->addr))
		return NULL;
	return heldfile_at(img->file, seg->off + (addr - seg->addr), len);
}

bool image_u32(const struct image *img, uint64_t addr, uint32_t *out)
{
	const void *p = image_at(img, addr, sizeof(*out));

	if (p)
		memcpy(out, p, sizeof(*out));
	return p;
}

bool image_u64(const struct image *img, uint64_t addr, uint64_t *out)
{
	const void *p = image_at(img, addr, sizeof(*out));

	if (p)
		memcpy(out, p, sizeof(*out));
	return p;
}

bool image_is_text(const struct image *img, uint64_t addr)
{
	const struct image_segment *seg = segment_of(img, addr);

	return seg && seg->exec;
}

bool image_addr_to_off(const struct image *img, uint64_t addr, uint64_t *off)
{
	const struct image_segment *seg = segment_of(img, addr);

	if (!seg)
		return false;
	*off = seg->off + (addr - seg->addr);
	return true;
}

uint64_t image_tls_size(const struct image *img)
{
	return img->tls_size;
}

uint64_t image_eh_frame(const struct image *img)
{
	return img->eh_frame;
}

/* --- sections and symbols --- */

bool image_section(const struct image *img, const char *name, struct image_section *out)
{
	return image_sections_find(img->sections, name, out);
}

bool image_has_symtab(const struct image *img)
{
	return image_sections_has_symtab(img->sections);
}

void image_each_symbol(const struct image *img, bool (*fn)(const struct image_symbol *, void *),
		       void *ctx)
{
	image_sections_each_symbol(img->sections, fn, ctx);
}
