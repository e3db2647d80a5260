// SPDX-License-Identifier: Apache-2.0
/* stands in for inlining.c, which is to delete it */
#include "inlining.h"
void inlining_each(const struct pclntab *tab, bool (*fn)(const struct inlining_copy *, void *), void *ctx){(void)tab;(void)fn;(void)ctx;}
int inlining_entry(struct site_finder *f,const struct inlining_copy*c,struct site*o,const char**r){(void)f;(void)c;(void)o;*r="stub";return -1;}
int inlining_span(struct site_finder *f,const struct inlining_copy*c,struct site*o,struct site_list*e,const char**r){(void)f;(void)c;(void)e;(void)o;*r="stub";return -1;}
