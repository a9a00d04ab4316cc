/*
 * How large a file of the workspace may become. Two writers of one file may pass the check at once, and
 * each then has its write: the file's bound for certain is the kernel's, RLIMIT_FSIZE and the size of the
 * workspace.
 */
#include "audit.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static off_t most = -1; /* bytes; -1 is no limit */
static dev_t workspace;

__attribute__((constructor(150))) static void configure(void)
{
	struct stat st;
	struct sigaction was;
	int saved = errno;
	const char *value = getenv(AUDIT_LIMIT);
	if (value && stat("/workspace", &st) == 0) {
		char *end;
		long long n = strtoll(value, &end, 10);
		if (*value && !*end && n >= 0) {
			most = (off_t)n;
			workspace = st.st_dev;
		}
	}
	/* With EFBIG comes a signal that would end the program before it is told ENOSPC. */
	if (sigaction(SIGXFSZ, NULL, &was) == 0 && was.sa_handler == SIG_DFL) signal(SIGXFSZ, SIG_IGN);
	errno = saved;
}

static void look(struct target *t, int fd, const char *path)
{
	int saved = errno;
	t->path = path;
	int ok = (fd >= 0 ? fstat(fd, &t->st) : path ? stat(path, &t->st) : -1) == 0;
	t->workspace = ok && S_ISREG(t->st.st_mode) && t->st.st_dev == workspace;
	errno = saved;
}

/* A file that came larger may be written to within its size. */
static off_t bound(struct target *t)
{
	return t->st.st_size > most ? t->st.st_size : most;
}

int may_watch(struct target *t, int fd)
{
	look(t, fd, NULL);
	return t->workspace && most >= 0;
}

off_t bound_of(off_t began) { return began > most ? began : most; }

size_t room(struct target *t, int fd, off_t at, size_t n)
{
	look(t, fd, NULL);
	if (!t->workspace || most < 0) return n;
	int saved = errno;
	int flags = (int)syscall(SYS_fcntl, fd, F_GETFL);
	/* To the kernel, O_APPEND goes before the offset of pwrite. */
	if (flags >= 0 && flags & O_APPEND) at = t->st.st_size;
	else if (at < 0) at = lseek(fd, 0, SEEK_CUR);
	errno = saved;
	if (at < 0) return n;
	off_t left = bound(t) - at;
	return left <= 0 ? 0 : (uint64_t)left < n ? (size_t)left : n;
}

int may_grow(struct target *t, int fd, const char *path, off_t size)
{
	look(t, fd, path);
	return !t->workspace || most < 0 || size <= bound(t);
}

ssize_t wrote(struct target *t, int fd, ssize_t n)
{
	if (n < 0 && errno == EFBIG) return full(t, fd, 0);
	if (n > 0 && S_ISREG(t->st.st_mode)) record_file(OP_WRITE, fd, t, (uint64_t)n);
	return n;
}

int full(struct target *t, int fd, uint64_t asked)
{
	record_file(OP_REFUSED, fd, t, asked);
	errno = ENOSPC;
	return -1;
}
