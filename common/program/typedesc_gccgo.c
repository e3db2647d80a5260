// SPDX-License-Identifier: Apache-2.0
#include "program/typedesc_gccgo_internal.h"

#include <string.h>

#include "bpf-src/shared/type_key.h"
#include "elf/image.h"
#include "program/typedesc_dialect_internal.h"

enum { /* sizes and offsets, in bytes */
       HEAD = 64,
       AT_ALIGN = 21,
       AT_KIND = 23,
       AT_NAME = 40,
       AT_UNCOMMON = 48,
       AT_POINTER = 56,
       FIELD = 40,
       INTERFACE_METHOD = 24,
       UNCOMMON_METHODS = 16, /* a slice */
       METHOD = 40,
};

enum { DIRECT = 0x20 };
enum { MAX_NAME = 4096, MAX_LIST = UINT16_MAX, MAX_METHODS = 1 << 14 };

/* The last link at or before an address; NULL: none */
static const struct typedesc_link *link_before(const struct typedesc_module *mod, uint64_t addr)
{
	const struct typedesc_library *library = mod->library;
	size_t low = 0, high = library ? library->link_count : 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (library->links[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &library->links[low - 1] : NULL;
}

/* Where the library has what the dynamic linker copies into the program (a copy relocation), whose
 * file only has room for it. */
static uint64_t original(const struct typedesc_module *mod, uint64_t addr)
{
	const struct typedesc_link *link = addr < TYPEDESC_LIBRARY ? link_before(mod, addr) : NULL;

	return link && addr - link->addr < link->copied ? link->to + (addr - link->addr) : addr;
}

static const void *bytes_at(const struct typedesc_module *mod, uint64_t addr, size_t len)
{
	addr = original(mod, addr);
	if (addr < TYPEDESC_LIBRARY)
		return image_at(mod->img, addr, len);
	return mod->library ? image_at(mod->library->img, addr - TYPEDESC_LIBRARY, len) : NULL;
}

static bool word_at(const struct typedesc_module *mod, uint64_t addr, unsigned off, uint64_t *out)
{
	const void *word = bytes_at(mod, addr + off, sizeof(*out));

	if (word)
		memcpy(out, word, sizeof(*out));
	return word;
}

/* A word that holds an address, 0 for none. */
static bool addr_at(const struct typedesc_module *mod, uint64_t addr, unsigned off, uint64_t *out)
{
	const struct typedesc_link *link;

	addr = original(mod, addr + off);
	if (!word_at(mod, addr, 0, out))
		return false;
	if (addr >= TYPEDESC_LIBRARY) {
		*out += *out ? TYPEDESC_LIBRARY : 0;
		return true;
	}
	link = *out ? NULL : link_before(mod, addr);
	if (link && link->addr == addr && !link->copied)
		*out = link->to;
	return true;
}

/* A *string: the address of a pointer and a length. */
static bool read_string(const struct typedesc_module *mod, uint64_t addr, struct typedesc_text *out)
{
	uint64_t text, len;

	*out = (struct typedesc_text){0};
	if (!addr_at(mod, addr, 0, &text) || !word_at(mod, addr, 8, &len) || len > MAX_NAME)
		return false;
	out->len = len;
	out->text = len ? bytes_at(mod, text, len) : "";
	return out->text;
}

static bool is_plain_text(const struct typedesc_text *text)
{
	for (size_t i = 0; i < text->len; i++)
		if (((unsigned char)text->text[i] < ' ' && text->text[i] != '\t') ||
		    text->text[i] == 0x7f)
			return false;
	return text->len;
}

static bool read_head(const struct typedesc_module *mod, struct typedesc *out)
{
	const uint8_t *head = bytes_at(mod, out->addr, HEAD);
	uint64_t name, own, uncommon;

	if (!head || !word_at(mod, out->addr, 0, &out->size) ||
	    !addr_at(mod, out->addr, AT_NAME, &name) ||
	    !addr_at(mod, out->addr, AT_UNCOMMON, &uncommon) ||
	    !addr_at(mod, out->addr, AT_POINTER, &out->pointer))
		return false;
	out->kind = head[AT_KIND] & GOKIND_MASK;
	out->align = head[AT_ALIGN];
	out->direct = head[AT_KIND] & DIRECT;
	out->uncommon = uncommon;
	out->named = uncommon && addr_at(mod, uncommon, 0, &own) && own;
	out->len = HEAD;
	return gokind_fits(out->kind, out->size, out->align) &&
	       read_string(mod, name, &out->name) && is_plain_text(&out->name);
}

static bool read_gccgo_slice(const struct typedesc_module *mod, size_t size, struct typedesc *out)
{
	uint64_t addr, len;

	if (!addr_at(mod, out->addr, HEAD, &addr) || !word_at(mod, out->addr, HEAD + 8, &len) ||
	    len > MAX_LIST)
		return false;
	out->listed = len;
	out->list = len ? bytes_at(mod, addr, len * size) : NULL;
	out->first = addr;
	return !len || out->list;
}

static bool read_gccgo(const struct typedesc_module *mod, uint64_t addr, struct typedesc *out)
{
	*out = (struct typedesc){.addr = addr};
	if (!addr || !read_head(mod, out))
		return false;
	switch (out->kind) {
	case GOKIND_STRUCT:
		return read_gccgo_slice(mod, FIELD, out);
	case GOKIND_INTERFACE:
		return read_gccgo_slice(mod, INTERFACE_METHOD, out);
	case GOKIND_ARRAY:
		return addr_at(mod, addr, HEAD, &out->elem) &&
		       word_at(mod, addr, HEAD + 16, &out->count);
	case GOKIND_MAP:
		return addr_at(mod, addr, HEAD, &out->key) &&
		       addr_at(mod, addr, HEAD + 8, &out->elem);
	case GOKIND_CHAN:
	case GOKIND_POINTER:
	case GOKIND_SLICE:
		return addr_at(mod, addr, HEAD, &out->elem);
	default:
		return true;
	}
}

static bool read_gccgo_field(const struct typedesc_module *mod, const struct typedesc *desc,
			     size_t index, struct typedesc_field *out)
{
	uint64_t at = desc->first + index * FIELD, name, off;

	*out = (struct typedesc_field){0};
	if (!addr_at(mod, at, 0, &name) || !addr_at(mod, at, 16, &out->type) ||
	    !word_at(mod, at, 32, &off) || !read_string(mod, name, &out->name) ||
	    !is_plain_text(&out->name))
		return false;
	out->off = off >> 1;
	out->embedded = off & 1;
	return true;
}

static bool read_gccgo_package(const struct typedesc_module *mod, const struct typedesc *desc,
			       struct typedesc_text *out)
{
	uint64_t path;

	return desc->uncommon && addr_at(mod, desc->uncommon, 8, &path) && path &&
	       read_string(mod, path, out) && out->len;
}

bool typedesc_gccgo_has_method(const struct typedesc_module *mod, uint64_t addr, const char *name)
{
	uint64_t uncommon, methods, count, string;
	size_t len = strlen(name);
	struct typedesc_text found;

	if (!addr_at(mod, addr, AT_UNCOMMON, &uncommon) || !uncommon ||
	    !addr_at(mod, uncommon, UNCOMMON_METHODS, &methods) ||
	    !word_at(mod, uncommon, UNCOMMON_METHODS + 8, &count))
		return false;
	for (uint64_t i = 0; i < count && i < MAX_METHODS; i++)
		if (addr_at(mod, methods, i * METHOD, &string) &&
		    read_string(mod, string, &found) && found.len == len &&
		    !memcmp(found.text, name, len))
			return true;
	return false;
}

uint64_t typedesc_gccgo_key(const struct typedesc_module *mod, uint64_t addr)
{
	const void *at = bytes_at(mod, addr, sizeof(struct type_key_head));
	unsigned long long first[TYPE_KEY_PART / 8] = {0}, last[TYPE_KEY_PART / 8] = {0}, key;
	struct type_key_head head;
	struct typedesc_text name;
	uint64_t string;

	if (!at || !addr_at(mod, addr, AT_NAME, &string) || !read_string(mod, string, &name))
		return 0;

	size_t len = name.len < TYPE_KEY_PART ? name.len : TYPE_KEY_PART;

	memcpy(&head, at, sizeof(head));
	memcpy(first, name.text, len);
	memcpy(last, name.text + name.len - len, len);
	key = type_key_part(type_key_start(&head, name.len), first);
	return type_key_end(type_key_part(key, last));
}

static bool ends_in(const char *name, size_t len, const char *suffix)
{
	size_t ending = strlen(suffix);

	return len > ending && !strcmp(name + len - ending, suffix);
}

bool typedesc_gccgo_is_symbol(const char *name)
{
	size_t len = strlen(name);

	return ends_in(name, len, "..d") || ends_in(name, len, "..p") ||
	       !strncmp(name, "type..", 6);
}

/* Packages' paths stand between tabs, and are left out. */
static size_t without_paths(const char *name, size_t len, char *out)
{
	size_t used = 0;
	bool hidden = false;

	for (size_t i = 0; i < len; i++)
		if (name[i] == '\t')
			hidden = !hidden;
		else if (!hidden)
			out[used++] = name[i];
	return used;
}

static void no_methods(const struct typedesc_module *mod, const struct typedesc *desc,
		       struct typedesc_methods *out)
{
	(void)mod;
	(void)desc;
	*out = (struct typedesc_methods){0};
}

const struct typedesc_dialect typedesc_gccgo = {
	.read = read_gccgo,
	.field = read_gccgo_field,
	.package = read_gccgo_package,
	.methods = no_methods,
	.plain = without_paths,
};
