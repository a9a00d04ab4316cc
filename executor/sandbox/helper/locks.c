/*
 * Locks of files (fcntl F_SETLK) are memory of the kernel that no group is charged for, a lock some 190 bytes.
 * A program makes a few hundred thousand a second, and one that asked PID 1 for each would wait for it with every
 * transaction of a database. So PID 1 looks from time to time: a lock belongs to a table of descriptors, and
 * /proc/PID/task/TID/fdinfo lists those of each. What hides its descriptors for two looks is taken for one that holds too
 * many; for one it may be a program that is being executed, and not dumpable for the moment.
 *
 * A look is PID 1's own time, which the run's limit does not hold. So a table that threads share is looked at once;
 * an epoll, whose fdinfo is made whole before its first byte is read and lists each of what may be millions of entries,
 * is not opened; and what takes longer than LOOK_MAX_MS to look at is taken for one that hides what it holds.
 */
#include "helper.h"
#include <ctype.h>
#include <dirent.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <time.h>

enum { LOOK_MAX_MS = 500 };
static uint64_t until; /* of PID 1's processor time, which does not pass while others have the machine */

static uint64_t spent_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static DIR *open_dir(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? NULL : fdopendir(fd);
}

/* The next entry that is a number, or NULL. */
static const char *next(DIR *d)
{
	for (struct dirent *e; (e = readdir(d));)
		if (isdigit((unsigned char)e->d_name[0])) return e->d_name;
	return NULL;
}

/* Adds the locks of one descriptor: its fdinfo has a line "lock:" for each. */
static void count(int dir, const char *fd, uint64_t *held)
{
	static char text[1 << 16];
	static const char word[] = "\nlock:";
	int f = openat(dir, fd, O_RDONLY | O_CLOEXEC);
	if (f < 0) return; /* closed meanwhile */
	size_t kept = 0;
	for (ssize_t n; *held <= LOCKS_MAX && (n = read(f, text + kept, sizeof text - kept)) > 0;) {
		size_t len = kept + (size_t)n;
		char *at = text;
		for (char *m; (m = memmem(at, len - (size_t)(at - text), word, sizeof word - 1)); at = m + 1) ++*held;
		/* A word that is cut in two is found with what comes next. */
		kept = len < sizeof word - 2 ? len : sizeof word - 2;
		memmove(text, text + len - kept, kept);
	}
	close(f);
}

static int is_epoll(int tasks, const char *tid, const char *fd)
{
	static const char name[] = "anon_inode:[eventpoll]";
	char path[560], target[sizeof name];
	snprintf(path, sizeof path, "%s/fd/%s", tid, fd);
	return readlinkat(tasks, path, target, sizeof target) == sizeof name - 1 && memcmp(target, name, sizeof name - 1) == 0;
}

static int hides, hidden; /* whether this look found hidden descriptors, and the last */

/* False where a thread's descriptors may not be looked at again, or not in time. */
static int count_thread(int tasks, const char *tid, uint64_t *held)
{
	char path[280];
	int in_time = 1;
	snprintf(path, sizeof path, "%s/fdinfo", tid);
	DIR *d = open_dir(tasks, path);
	if (!d && (errno == EACCES || errno == EPERM)) {
		hides = 1;
		return hidden == 0;
	}
	if (!d) return 1; /* gone */
	for (const char *fd; in_time && *held <= LOCKS_MAX && (fd = next(d)); in_time = spent_ns() < until)
		if (!is_epoll(tasks, tid, fd)) count(dirfd(d), fd, held);
	closedir(d);
	return in_time;
}

/* The table of the process that it belongs to. */
static int shares_table(const char *pid, const char *tid)
{
	return strcmp(pid, tid) != 0 && syscall(SYS_kcmp, atoi(pid), atoi(tid), KCMP_FILES, 0, 0) == 0;
}

/* A lock of this run's shows to anybody who asks; one of another run has no process in this namespace. */
static int locked_here(int fd)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	return fcntl(fd, F_GETLK, &l) == 0 && l.l_type != F_UNLCK && l.l_pid > 0;
}

static int locks_a_device(void)
{
	char path[16];
	int found = 0;
	for (int i = 0; !found && i < DEVICES; i++) {
		snprintf(path, sizeof path, "/dev/%s", devices[i].name);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0) continue;
		found = locked_here(fd);
		close(fd);
	}
	return found;
}

/*
 * All descriptors without a file of their own, epolls among them, have one inode, as the host's devices have. A lock
 * there is of no use but to be told to another run. The supervisor holds the first inode (guard.go), so that there is
 * a lock to be found only where it could not.
 */
int too_many_locks(int anonymous, int own_devices, uint64_t *took_ns)
{
	uint64_t held = 0, from = spent_ns();
	int seen = !locked_here(anonymous) && (own_devices || !locks_a_device());
	until = from + LOOK_MAX_MS * 1000000ull;
	hides = 0;
	DIR *proc = open_dir(AT_FDCWD, "/proc");
	if (!proc) return 0;
	for (const char *pid; seen && held <= LOCKS_MAX && (pid = next(proc));) {
		char path[280];
		if (strcmp(pid, "1") == 0) continue;
		snprintf(path, sizeof path, "%s/task", pid);
		DIR *tasks = open_dir(dirfd(proc), path);
		if (!tasks) continue; /* gone */
		for (const char *tid; seen && held <= LOCKS_MAX && (tid = next(tasks));)
			if (!shares_table(pid, tid)) seen = count_thread(dirfd(tasks), tid, &held);
		closedir(tasks);
	}
	closedir(proc);
	hidden = hides;
	*took_ns = spent_ns() - from;
	return !seen || held > LOCKS_MAX;
}
