/* SPDX-License-Identifier: Apache-2.0 */
/* --pprof FILE: a profile as a file for `go tool pprof` and whatever else reads its format,
 * profile.proto of github.com/google/pprof, gzipped. */
#ifndef PPROF_H
#define PPROF_H

struct errmsg;
struct outfile;
struct profile;
struct profile_spec;

struct pprof { /* all zero: none is asked for */
	struct outfile *file;
	struct profile *profile; /* NULL: none is asked for */
};

/* `path` NULL: none is asked for. The file's folder is tried now; 0, or -1 with *err: no file can
 * be made there. The caller closes. */
int pprof_open(struct pprof *pprof, const char *path, const struct profile_spec *spec,
	       struct errmsg *err);
/* 0, also if none is asked for, or -1 with *err. */
int pprof_write(const struct pprof *pprof, struct errmsg *err);
void pprof_close(struct pprof *pprof);

#endif
