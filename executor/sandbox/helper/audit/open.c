/* The calls that open. Names with _2 are what glibc's headers make of a call without a mode. */
#include "audit.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int opened(int dir, const char *path, int flags, mode_t mode)
{
	int fd = (int)syscall(SYS_openat, dir, path, flags, mode);
	if (fd >= 0) record_open(path, flags);
	return fd;
}

#define MODE(last) ({ \
	mode_t m = 0; \
	if (last & O_CREAT || (last & O_TMPFILE) == O_TMPFILE) { \
		va_list v; \
		va_start(v, last); \
		m = va_arg(v, mode_t); \
		va_end(v); \
	} \
	m; })

int open(const char *path, int flags, ...) { return opened(AT_FDCWD, path, flags, MODE(flags)); }
int open64(const char *path, int flags, ...) { return opened(AT_FDCWD, path, flags, MODE(flags)); }
int openat(int dir, const char *path, int flags, ...) { return opened(dir, path, flags, MODE(flags)); }
int openat64(int dir, const char *path, int flags, ...) { return opened(dir, path, flags, MODE(flags)); }
int creat(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int __open_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags, 0); }
int __openat_2(int dir, const char *path, int flags) { return opened(dir, path, flags, 0); }
int __openat64_2(int dir, const char *path, int flags) { return opened(dir, path, flags, 0); }

/* A stream's own calls stay inside the C library, see stream.c. */
typedef FILE *opener(const char *, const char *);
static FILE *stream(const char *name, _Atomic(opener *) *next, const char *path, const char *mode)
{
	opener *real = atomic_load(next);
	if (!real) atomic_store(next, real = (opener *)dlsym(RTLD_NEXT, name));
	FILE *f = real(path, mode);
	if (!f || !mode) return f;
	int flags = mode[0] == 'r' ? O_RDONLY : O_WRONLY | O_CREAT | (mode[0] == 'a' ? O_APPEND : O_TRUNC);
	if (strchr(mode, '+')) flags = (flags & ~O_ACCMODE) | O_RDWR;
	record_open(path, flags);
	if ((flags & O_ACCMODE) != O_RDONLY) watch_stream(f);
	return f;
}

FILE *fopen(const char *path, const char *mode)
{
	static _Atomic(opener *) next;
	return stream("fopen", &next, path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	static _Atomic(opener *) next;
	return stream("fopen64", &next, path, mode);
}
