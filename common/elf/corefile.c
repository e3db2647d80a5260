// SPDX-License-Identifier: Apache-2.0
/* Headers and notes are read once and copied. Memory is read when it is asked for, as that of a
 * process that runs: who asks takes it for something that may change from one read to the next. */
#include "elf/corefile_internal.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "elf/corefile_notes_internal.h"
#include "files/heldfile.h"

enum {
	/* of mappings: the kernel lets a process have 65530, if nobody has changed that */
	HEADERS_MAX = 1 << 20,
	/* of all notes: some thousands a thread. Segments of a file that lies may overlap. */
	NOTES_MAX = 1 << 28,
};

struct piece { /* of memory that is in the file */
	uint64_t addr, len, off;
};

struct corefile {
	struct heldfile *file;
	const char *path;
	uint64_t size;
	struct piece *pieces; /* by address; they do not overlap */
	size_t piece_count, piece_cap;
	struct corefile_notes notes;
	uint64_t note_bytes;
	uint64_t whole, missing;
};

/* --- header --- */

static int not_core(const struct corefile *core, const uint8_t *head, struct errmsg *err)
{
	static const struct {
		uint8_t magic[4];
		size_t len;
		const char *tool;
	} packed[] = {{{0x28, 0xb5, 0x2f, 0xfd}, 4, "zstd -d"},
		      {{0x04, 0x22, 0x4d, 0x18}, 4, "lz4 -d"},
		      {{0xfd, '7', 'z', 'X'}, 4, "xz -d"},
		      {{0x1f, 0x8b}, 2, "gzip -d"}};

	errmsg_set(err, "\"%s\": not a core file", core->path);
	for (size_t i = 0; head && i < sizeof(packed) / sizeof(*packed); i++)
		if (!memcmp(head, packed[i].magic, packed[i].len))
			errmsg_hint(err, "it is compressed: unpack it with %s", packed[i].tool);
	return -1;
}

static int check_header(const struct corefile *core, Elf64_Ehdr *eh, struct errmsg *err)
{
	const uint8_t *head = heldfile_at(core->file, 0, SELFMAG);

	if (!head || memcmp(head, ELFMAG, SELFMAG) != 0)
		return heldfile_check(core->file, err) ? -1 : not_core(core, head, err);
	if (core->size < sizeof(*eh))
		return errmsg_set(err, "\"%s\": file is truncated: its ELF header is incomplete",
				  core->path);
	if (!heldfile_read(core->file, 0, sizeof(*eh), eh))
		return heldfile_check(core->file, err);
	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELFDATA2LSB ||
	    eh->e_machine != EM_X86_64)
		return errmsg_set(err, "\"%s\": only core files of x86-64 programs are supported",
				  core->path);
	if (eh->e_type != ET_CORE) {
		errmsg_set(err, "\"%s\": not a core file, but a program", core->path);
		errmsg_hint(err, "the core file comes first, then the program");
		return -1;
	}
	return 0;
}

/* Where there are too many for e_phnum, section header 0 has their number. */
static uint64_t header_count(const struct corefile *core, const Elf64_Ehdr *eh)
{
	Elf64_Shdr first;

	if (eh->e_phnum != PN_XNUM)
		return eh->e_phnum;
	return heldfile_read(core->file, eh->e_shoff, sizeof(first), &first) ? first.sh_info : 0;
}

/* --- segments --- */

static int add_piece(struct corefile *core, const Elf64_Phdr *ph, struct errmsg *err)
{
	uint64_t end, left = ph->p_offset < core->size ? core->size - ph->p_offset : 0;
	struct piece piece = {.addr = ph->p_vaddr, .len = ph->p_filesz, .off = ph->p_offset};

	if (__builtin_add_overflow(ph->p_vaddr, ph->p_filesz, &end) ||
	    __builtin_add_overflow(ph->p_offset, ph->p_filesz, &end) ||
	    __builtin_add_overflow(core->whole, ph->p_filesz, &end) || ph->p_filesz > ph->p_memsz)
		return errmsg_set(err, "\"%s\": malformed: a segment has an impossible size",
				  core->path);
	core->whole = end;
	if (piece.len > left) {
		core->missing += piece.len - left;
		piece.len = left;
	}
	if (!piece.len)
		return 0;
	core->pieces =
		mem_grow(core->pieces, core->piece_count, &core->piece_cap, sizeof(*core->pieces));
	core->pieces[core->piece_count++] = piece;
	return 0;
}

static int by_addr(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Where segments overlap, the later one is right from its beginning on. */
static void sort_pieces(struct corefile *core)
{
	if (core->piece_count)
		qsort(core->pieces, core->piece_count, sizeof(*core->pieces), by_addr);
	for (size_t i = 0; i + 1 < core->piece_count; i++) {
		uint64_t room = core->pieces[i + 1].addr - core->pieces[i].addr;

		if (core->pieces[i].len > room)
			core->pieces[i].len = room;
	}
}

static int read_note_segment(struct corefile *core, const Elf64_Phdr *ph, struct errmsg *err)
{
	uint64_t left = ph->p_offset < core->size ? core->size - ph->p_offset : 0;
	uint64_t len = ph->p_filesz < left ? ph->p_filesz : left;

	if (ph->p_filesz > NOTES_MAX - core->note_bytes)
		return errmsg_set(err, "\"%s\": malformed: it has more notes than a process can",
				  core->path);
	const uint8_t *data = len ? heldfile_at(core->file, ph->p_offset, len) : NULL;

	core->note_bytes += ph->p_filesz;
	core->whole += ph->p_filesz - len;
	core->missing += ph->p_filesz - len;
	if (data)
		corefile_notes_read(data, len, &core->notes);
	return 0;
}

static int read_segments(struct corefile *core, const Elf64_Ehdr *eh, struct errmsg *err)
{
	uint64_t count = header_count(core, eh), need = count * sizeof(Elf64_Phdr);

	if (eh->e_phentsize != sizeof(Elf64_Phdr) || !count || count > HEADERS_MAX)
		return errmsg_set(err, "\"%s\": malformed program headers", core->path);
	if (eh->e_phoff > core->size || need > core->size - eh->e_phoff)
		return errmsg_set(err,
				  "\"%s\": file is truncated: it ends before its program "
				  "headers do",
				  core->path);
	const uint8_t *table = heldfile_at(core->file, eh->e_phoff, need);

	for (uint64_t i = 0; table && i < count; i++) {
		Elf64_Phdr ph;

		memcpy(&ph, table + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_NOTE && read_note_segment(core, &ph, err))
			return -1;
		if (ph.p_type == PT_LOAD && add_piece(core, &ph, err))
			return -1;
	}
	sort_pieces(core);
	return heldfile_check(core->file, err);
}

struct corefile *corefile_open(struct heldfile *file, struct errmsg *err)
{
	struct corefile *core;
	Elf64_Ehdr eh;

	if (!file)
		return NULL;
	core = mem_zalloc(1, sizeof(*core));
	core->file = file;
	core->path = heldfile_path(file);
	core->size = heldfile_size(file);
	if (check_header(core, &eh, err) == 0 && read_segments(core, &eh, err) == 0)
		return core;
	corefile_close(core);
	return NULL;
}

void corefile_close(struct corefile *core)
{
	if (!core)
		return;
	free(core->notes.threads);
	free(core->pieces);
	heldfile_close(core->file);
	free(core);
}

/* --- what it holds --- */

const char *corefile_path(const struct corefile *core)
{
	return core->path;
}

pid_t corefile_pid(const struct corefile *core)
{
	return core->notes.pid;
}

const struct corefile_thread *corefile_threads(const struct corefile *core, size_t *count)
{
	*count = core->notes.thread_count;
	return core->notes.threads;
}

bool corefile_auxv(const struct corefile *core, uint64_t type, uint64_t *value)
{
	return corefile_notes_auxv(&core->notes, type, value);
}

bool corefile_mapping(const struct corefile *core, size_t number, uint64_t *addr, uint64_t *off)
{
	return corefile_notes_mapping(&core->notes, number, addr, off);
}

uint64_t corefile_missing(const struct corefile *core, uint64_t *whole)
{
	*whole = core->whole;
	return core->missing;
}

static const struct piece *find_piece(const struct corefile *core, uint64_t addr)
{
	size_t low = 0, high = core->piece_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (core->pieces[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	const struct piece *piece = low ? &core->pieces[low - 1] : NULL;

	return piece && addr - piece->addr < piece->len ? piece : NULL;
}

size_t corefile_read(const struct corefile *core, uint64_t addr, void *out, size_t len)
{
	size_t done = 0;

	while (done < len) {
		const struct piece *piece = find_piece(core, addr + done);

		if (!piece || addr + done < addr)
			break;
		uint64_t at = addr + done - piece->addr, left = piece->len - at;
		ssize_t n = pread(heldfile_fd(core->file), (uint8_t *)out + done,
				  len - done < left ? len - done : left, piece->off + at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += n;
	}
	return done;
}
