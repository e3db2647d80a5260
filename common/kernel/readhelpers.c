// SPDX-License-Identifier: Apache-2.0
#include "kernel/readhelpers_internal.h"

#include <bcc/bcc_proc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/kernelfeature_internal.h"

static bool has_user = true, has_kernel = true;

void readhelpers_try(void)
{
	has_user = kernelfeature_probe_read_user();
	has_kernel = kernelfeature_probe_read_kernel();
}

/* With libbcc's name and signature, so that the dynamic linker finds this one. The addresses do not
 * matter, but must not be 0. */
int bcc_procutils_each_ksym(bcc_procutils_ksymcb callback, void *payload)
{
	if (has_user)
		callback("bpf_probe_read_user", "kernel", 1, payload);
	if (has_kernel)
		callback("bpf_probe_read_kernel", "kernel", 1, payload);
	return 0;
}
