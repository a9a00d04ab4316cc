/* The calls that write or resize. A call that may block is the C library's own, which a thread can be cancelled in. */
#include "audit.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) ({ \
	static _Atomic(__typeof__(name) *) next; \
	__typeof__(name) *f = atomic_load_explicit(&next, memory_order_acquire); \
	if (!f) atomic_store_explicit(&next, f = (__typeof__(name) *)dlsym(RTLD_NEXT, #name), memory_order_release); \
	f; })

#define CUT(fd, at, n) \
	struct target t; \
	size_t most = room(&t, fd, at, n); \
	if (most == 0 && n > 0) return full(&t, fd, n)

ssize_t write(int fd, const void *b, size_t n)
{
	CUT(fd, -1, n);
	return wrote(&t, fd, NEXT(write)(fd, b, most));
}

#define PWRITE(name, type) \
ssize_t name(int fd, const void *b, size_t n, type at) \
{ \
	CUT(fd, at < 0 ? 0 : at, n); /* the kernel refuses a negative one */ \
	return wrote(&t, fd, NEXT(name)(fd, b, most, at)); \
}
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

/* The first most bytes of v, in w; how many parts. */
static int cut(const struct iovec *v, int n, size_t most, struct iovec *w)
{
	int i = 0;
	for (; i < n && most > 0; i++) {
		w[i] = v[i];
		if (w[i].iov_len > most) w[i].iov_len = most;
		most -= w[i].iov_len;
	}
	return i;
}

/* Arguments that the kernel refuses go to it as they are. */
#define VECTOR(name, params, at, call_all, call_cut) \
ssize_t name params \
{ \
	size_t n = 0; \
	for (int i = 0; v && i < count; i++) n = v[i].iov_len > SSIZE_MAX - n ? SSIZE_MAX : n + v[i].iov_len; \
	CUT(fd, at, n); \
	if (most == n || count > IOV_MAX) return wrote(&t, fd, NEXT(name) call_all); \
	struct iovec w[IOV_MAX]; \
	int parts = cut(v, count, most, w); \
	return wrote(&t, fd, NEXT(name) call_cut); \
}
VECTOR(writev, (int fd, const struct iovec *v, int count), -1, (fd, v, count), (fd, w, parts))
VECTOR(pwritev, (int fd, const struct iovec *v, int count, off_t o), o, (fd, v, count, o), (fd, w, parts, o))
VECTOR(pwritev64, (int fd, const struct iovec *v, int count, off64_t o), o, (fd, v, count, o), (fd, w, parts, o))
VECTOR(pwritev2, (int fd, const struct iovec *v, int count, off_t o, int f), o, (fd, v, count, o, f), (fd, w, parts, o, f))
VECTOR(pwritev64v2, (int fd, const struct iovec *v, int count, off64_t o, int f), o, (fd, v, count, o, f), (fd, w, parts, o, f))

ssize_t copy_file_range(int in, off64_t *in_at, int fd, off64_t *at, size_t n, unsigned flags)
{
	CUT(fd, at ? *at : -1, n);
	return wrote(&t, fd, NEXT(copy_file_range)(in, in_at, fd, at, most, flags));
}

#define SENDFILE(name, type) \
ssize_t name(int fd, int in, type *at, size_t n) \
{ \
	CUT(fd, -1, n); \
	return wrote(&t, fd, NEXT(name)(fd, in, at, most)); \
}
SENDFILE(sendfile, off_t)
SENDFILE(sendfile64, off64_t)

static int resized(struct target *t, int fd, int result, off_t size)
{
	if (result < 0 && errno == EFBIG) return full(t, fd, (uint64_t)size);
	if (result == 0) record_file(OP_RESIZE, fd, t, (uint64_t)size);
	return result;
}

#define TRUNCATE(name, what, fd, path, type) \
int name(what, type size) \
{ \
	struct target t; \
	if (!may_grow(&t, fd, path, size)) return full(&t, fd, (uint64_t)size); \
	return resized(&t, fd, NEXT(name)(subject, size), size); \
}
TRUNCATE(ftruncate, int subject, subject, NULL, off_t)
TRUNCATE(ftruncate64, int subject, subject, NULL, off64_t)
TRUNCATE(truncate, const char *subject, -1, subject, off_t)
TRUNCATE(truncate64, const char *subject, -1, subject, off64_t)

/* Sums that overflow are the kernel's to refuse, and so is room beyond the end, which leaves the size as it is. */
static off_t end_of(int mode, off_t at, off_t n)
{
	off_t end;
	return mode & FALLOC_FL_KEEP_SIZE || __builtin_add_overflow(at, n, &end) ? 0 : end;
}

#define FALLOCATE(name, type) \
int name(int fd, int mode, type at, type n) \
{ \
	struct target t; \
	off_t end = end_of(mode, at, n); \
	if (!may_grow(&t, fd, NULL, end)) return full(&t, fd, (uint64_t)end); \
	return resized(&t, fd, NEXT(name)(fd, mode, at, n), end); \
}
FALLOCATE(fallocate, off_t)
FALLOCATE(fallocate64, off64_t)

/* These return the error, and leave errno alone. */
#define POSIX_FALLOCATE(name, type) \
int name(int fd, type at, type n) \
{ \
	struct target t; \
	int saved = errno; \
	off_t end = end_of(0, at, n); \
	int err = may_grow(&t, fd, NULL, end) ? NEXT(name)(fd, at, n) : EFBIG; \
	if (err == EFBIG) full(&t, fd, (uint64_t)end), err = ENOSPC; \
	else if (err == 0) record_file(OP_RESIZE, fd, &t, (uint64_t)end); \
	errno = saved; \
	return err; \
}
POSIX_FALLOCATE(posix_fallocate, off_t)
POSIX_FALLOCATE(posix_fallocate64, off64_t)
