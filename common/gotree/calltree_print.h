/* SPDX-License-Identifier: Apache-2.0 */
/* Prints trees of calls. */
#ifndef CALLTREE_PRINT_H
#define CALLTREE_PRINT_H

#include <stdint.h>
#include <stdio.h>

struct calltree;
struct json;

/* As text. Calls of one function by the same caller are one line, and so is what they called:
 *
 *   main.handle took 12.3ms: goroutine 18 of app, PID 4242
 *       TOTAL      SELF  SHARE  FUNC
 *      12.3ms     102us   100%  main.handle
 *      12.2ms    1.52ms    99%    main.query (panicked)
 *      10.7ms    10.7ms    87%      main.step x120, avg 89.2us, max 301us
 */
void calltree_print(FILE *out, const struct calltree *tree);

/* As the members of an object that has its "type" already. "start" is in ns from ROOT's. */
void calltree_json(struct json *json, const struct calltree *tree);

#endif
