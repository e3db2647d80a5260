// SPDX-License-Identifier: Apache-2.0
#include "kernel/readhelpers.h"

#include <bcc/bcc_proc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/kernelfeature.h"

static bool has_user = true, has_kernel = true;

void readhelpers_try(void)
{
	has_user = kernelfeature_probe_read_user();
	has_kernel = kernelfeature_probe_read_kernel();
}

/* libbcc's signature; found by the dynamic linker, and so with a name that is not ours. The
 * addresses matter to nobody, but 0 is none. */
int bcc_procutils_each_ksym(bcc_procutils_ksymcb callback, void *payload)
{
	if (has_user)
		callback("bpf_probe_read_user", "kernel", 1, payload);
	if (has_kernel)
		callback("bpf_probe_read_kernel", "kernel", 1, payload);
	return 0;
}
