// SPDX-License-Identifier: Apache-2.0
#include "files/process_pieces.h"

#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "files/process.h"

size_t process_pieces(const struct process *proc, const struct process_piece *pieces, size_t count)
{
	struct iovec here[PROCESS_PIECES], there[PROCESS_PIECES];
	size_t whole = 0;

	for (size_t i = 0; i < count; i++) {
		here[i] = (struct iovec){pieces[i].out, pieces[i].len};
		/* the address is one of the process's, and none here */
		memcpy(&there[i].iov_base, &pieces[i].addr, sizeof(there[i].iov_base));
		there[i].iov_len = pieces[i].len;
	}
	ssize_t left = process_vm_readv(process_id(proc), here, count, there, count, 0);

	for (; whole < count && left >= (ssize_t)pieces[whole].len; whole++)
		left -= (ssize_t)pieces[whole].len;
	return whole;
}
