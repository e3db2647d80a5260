/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel side needs for a plan beside the function's own values. */
#ifndef TRACEGEN_USES_INTERNAL_H
#define TRACEGEN_USES_INTERNAL_H

enum tracegen_uses {
	TRACEGEN_IDENTITY =
		1, /* computed: the goroutine, the thread, the CPU or the time of the hit */
	TRACEGEN_PARENT = 2,    /* $parent_goid */
	TRACEGEN_TYPES = 4,     /* interfaces are read, by their dynamic types */
	TRACEGEN_CODE = 8,      /* a key has addresses of code */
	TRACEGEN_LABELS = 16,   /* $label() */
	TRACEGEN_CONTEXTS = 32, /* $traceid, $ctx() */
	TRACEGEN_TIME = 64,     /* since() */
};

#endif
