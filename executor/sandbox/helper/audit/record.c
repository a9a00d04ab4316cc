/*
 * Records lie in one file of the run's /tmp that each process maps: a record costs no system call and
 * no descriptor, a fork shares them, and what the last process leaves is there for PID 1 to hand over.
 * Room for all of it is taken at once, because a page that the file system cannot give is a SIGBUS.
 */
#include "audit.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct audit *shared;

__attribute__((constructor)) static void map(void)
{
	struct rlimit most;
	int saved = errno;
	/* Beyond this limit the kernel would not only fail but send SIGXFSZ. */
	if (getrlimit(RLIMIT_FSIZE, &most) < 0 || most.rlim_cur < sizeof *shared) goto out;
	int fd = (int)syscall(SYS_openat, AT_FDCWD, AUDIT_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0) goto out;
	struct stat st;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && syscall(SYS_fallocate, fd, 0, 0, sizeof *shared) == 0) {
		void *p = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (p != MAP_FAILED) shared = p;
	}
	syscall(SYS_close, fd);
	if (shared) shared->magic = AUDIT_MAGIC;
out:
	errno = saved;
}

/* FNV-1a; never 0. */
static uint64_t mix(uint64_t h, const void *data, size_t n)
{
	for (const unsigned char *p = data; n > 0; n--) h = (h ^ *p++) * 1099511628211ull;
	return h ? h : 1;
}

static uint64_t key_of(int op, const void *a, size_t an, const void *b, size_t bn)
{
	return mix(mix(mix(14695981039346656037ull, &op, sizeof op), a, an), b, bn);
}

static struct record *find(uint64_t key)
{
	uint32_t n = atomic_load_explicit(&shared->taken, memory_order_relaxed);
	for (uint32_t i = 0; i < n && i < AUDIT_RECORDS; i++)
		if (atomic_load_explicit(&shared->records[i].key, memory_order_acquire) == key) return &shared->records[i];
	return NULL;
}

/* The next free record. Two threads may make two of one key, which is no harm. */
static struct record *take(int op, int flags)
{
	uint32_t n = atomic_load_explicit(&shared->taken, memory_order_relaxed);
	if (n >= AUDIT_RECORDS || (n = atomic_fetch_add(&shared->taken, 1)) >= AUDIT_RECORDS) {
		atomic_fetch_add(&shared->left_out, 1);
		return NULL;
	}
	shared->records[n].op = (uint32_t)op;
	shared->records[n].flags = flags;
	return &shared->records[n];
}

/* What an interpreter reads of its own library is every run's, and would leave no room for the rest. */
static int of_the_system(const char *path, int flags)
{
	static const char *const dirs[] = { "/usr/", "/lib/", "/lib64/", "/etc/", "/proc/", "/dev/", "/sys/" };
	if ((flags & O_ACCMODE) != O_RDONLY) return 0;
	for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
		if (strncmp(path, dirs[i], strlen(dirs[i])) == 0) return 1;
	return 0;
}

void record_open(const char *path, int flags)
{
	if (!shared || !path || of_the_system(path, flags)) return;
	size_t n = strnlen(path, AUDIT_PATH - 1);
	uint64_t key = key_of(OP_OPEN, path, n, &flags, sizeof flags);
	if (find(key)) return;
	struct record *r = take(OP_OPEN, flags);
	if (!r) return;
	memcpy(r->path, path, n);
	atomic_store_explicit(&r->key, key, memory_order_release);
}

void record_file(int op, int fd, const struct target *t, uint64_t bytes)
{
	if (!shared) return;
	int saved = errno;
	uint64_t key = key_of(op, &t->st.st_dev, sizeof t->st.st_dev, &t->st.st_ino, sizeof t->st.st_ino);
	struct record *r = find(key);
	if (!r && (r = take(op, 0))) {
		char name[32];
		snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
		if (fd < 0)
			memcpy(r->path, t->path, strnlen(t->path, AUDIT_PATH - 1));
		else if (readlink(name, r->path, AUDIT_PATH - 1) < 0)
			r->path[0] = '?';
		atomic_store_explicit(&r->key, key, memory_order_release);
	}
	if (r && op == OP_WRITE)
		atomic_fetch_add_explicit(&r->bytes, bytes, memory_order_relaxed);
	else if (r)
		atomic_store_explicit(&r->bytes, bytes, memory_order_relaxed);
	errno = saved;
}
