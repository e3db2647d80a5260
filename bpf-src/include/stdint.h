/* SPDX-License-Identifier: Apache-2.0 */
/* For headers that both sides include. */
#include <linux/types.h>
