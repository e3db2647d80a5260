// SPDX-License-Identifier: Apache-2.0
#include "kernel/libbcc_internal.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/errmsg.h"

#define SONAME "libbcc.so.0"

/* By the global scope, as the dynamic linker would have found it: what is preloaded comes first. */
static bool find(const char *name, void *function, struct errmsg *err)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	if (!found) {
		errmsg_set(err, "%s has no %s()", SONAME, name);
		errmsg_hint(err, "libbcc 0.26 or later is needed");
		return false;
	}
	memcpy(function, &found, sizeof(found)); /* C has no cast from objects to functions */
	return true;
}

const struct libbcc *libbcc_open(struct errmsg *err)
{
	static struct libbcc lib;

	if (lib.function_size)
		return &lib;
	if (!dlopen(SONAME, RTLD_LAZY | RTLD_GLOBAL)) {
		errmsg_set(err, "cannot load libbcc: %s", dlerror());
		errmsg_hint(err, "install libbcc 0.26 or later (Debian: libbpfcc)");
		return NULL;
	}
	bool whole = find("bpf_module_create_c_from_string", &lib.compile, err) &&
		     find("bpf_module_destroy", &lib.destroy, err) &&
		     find("bpf_num_tables", &lib.num_tables, err) &&
		     find("bpf_table_name", &lib.table_name, err) &&
		     find("bpf_table_fd_id", &lib.table_fd, err) &&
		     find("bpf_num_functions", &lib.num_functions, err) &&
		     find("bpf_function_name", &lib.function_name, err) &&
		     find("bpf_function_start_id", &lib.function_start, err) &&
		     find("bpf_function_size_id", &lib.function_size, err);

	return whole ? &lib : NULL;
}
