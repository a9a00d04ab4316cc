/*
 * The C library's streams. What they write stays inside it, where nothing can be put before a write; but the moments
 * when a program hears how that went are calls of its own: fflush, fclose, and the end. There a file of the workspace that
 * became larger than it may is cut, and the program is told ENOSPC. In between it may be as large as the limits let it be,
 * and a stream that is neither flushed, closed nor alive at an orderly end is not seen.
 */
#include "audit.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STREAMS = 64 }; /* watched at once; others are opened on record alone */
static struct { _Atomic(FILE *) f; ino_t file; off_t began; } streams[STREAMS];
typedef int of_stream(FILE *);

void watch_stream(FILE *f)
{
	struct target t;
	int fd = fileno(f);
	if (fd < 0 || !may_watch(&t, fd)) return;
	for (int i = 0; i < STREAMS; i++) {
		FILE *none = NULL;
		if (!atomic_compare_exchange_strong(&streams[i].f, &none, f)) continue;
		streams[i].file = t.st.st_ino;
		streams[i].began = t.st.st_size;
		return;
	}
}

/* Cuts what is behind a stream that was flushed; -1 with ENOSPC where there was something to cut. */
static int settle(int i, FILE *f)
{
	struct target t;
	int fd = fileno(f);
	if (fd < 0 || !may_watch(&t, fd)) return 0;
	if (t.st.st_ino != streams[i].file) { /* reopened: what is there now may have come larger */
		atomic_store(&streams[i].f, NULL);
		return 0;
	}
	off_t most = bound_of(streams[i].began), size = t.st.st_size;
	if (size > most && syscall(SYS_ftruncate, fd, most) == 0) {
		if (fd > STDERR_FILENO && most > streams[i].began) record_file(OP_WRITE, fd, &t, (uint64_t)(most - streams[i].began));
		streams[i].began = most;
		return full(&t, fd, (uint64_t)size);
	}
	/* What a program writes to its standard output without a stream is on record already. */
	if (size > streams[i].began && fd > STDERR_FILENO) record_file(OP_WRITE, fd, &t, (uint64_t)(size - streams[i].began));
	streams[i].began = size;
	return 0;
}

static int find(FILE *f)
{
	for (int i = 0; f && i < STREAMS; i++)
		if (atomic_load(&streams[i].f) == f) return i;
	return -1;
}

static int settle_all(void)
{
	int result = 0;
	for (int i = 0; i < STREAMS; i++) {
		FILE *f = atomic_load(&streams[i].f);
		if (f && settle(i, f) < 0) result = EOF;
	}
	return result;
}

static int flushed(const char *name, _Atomic(of_stream *) *next, FILE *f)
{
	of_stream *real = atomic_load(next);
	if (!real) atomic_store(next, real = (of_stream *)dlsym(RTLD_NEXT, name));
	int result = real(f), i = find(f);
	if (!f) return settle_all() < 0 ? EOF : result;
	return i >= 0 && settle(i, f) < 0 ? EOF : result;
}

int fflush(FILE *f)
{
	static _Atomic(of_stream *) next;
	return flushed("fflush", &next, f);
}

int fflush_unlocked(FILE *f)
{
	static _Atomic(of_stream *) next;
	return flushed("fflush_unlocked", &next, f);
}

int fclose(FILE *f)
{
	static _Atomic(of_stream *) next;
	of_stream *real = atomic_load(&next);
	if (!real) atomic_store(&next, real = (of_stream *)dlsym(RTLD_NEXT, "fclose"));
	int i = find(f), cut = 0;
	if (i >= 0) {
		cut = fflush(f);
		atomic_store(&streams[i].f, NULL);
	}
	int saved = errno, result = real(f);
	if (cut < 0) errno = saved;
	return cut < 0 ? EOF : result;
}

/* Standard output may have been a file of the workspace from the start. */
__attribute__((constructor(200))) static void watch_standard(void)
{
	watch_stream(stdout);
	watch_stream(stderr);
}

/* Runs before the C library writes what its streams still hold. One that another thread waits in is left alone. */
__attribute__((destructor)) static void end(void)
{
	for (int i = 0; i < STREAMS; i++) {
		FILE *f = atomic_load(&streams[i].f);
		if (!f || ftrylockfile(f) != 0) continue;
		fflush_unlocked(f);
		funlockfile(f);
	}
}
