/*
 * Locks of files (fcntl F_SETLK) are memory of the kernel that no group is charged for, a lock some 190 bytes.
 * A program makes a few hundred thousand a second, and one that asked PID 1 for each would wait for it with every
 * transaction of a database. So PID 1 looks from time to time: a lock belongs to a table of descriptors, and
 * /proc/PID/task/TID/fdinfo lists those of each. What hides its descriptors is taken for one that holds too many.
 */
#include "helper.h"
#include <ctype.h>
#include <dirent.h>

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

/* False where a thread's descriptors may not be looked at. */
static int count_thread(int tasks, const char *tid, uint64_t *held)
{
	char path[280];
	snprintf(path, sizeof path, "%s/fdinfo", tid);
	DIR *d = open_dir(tasks, path);
	if (!d) return errno != EACCES && errno != EPERM; /* gone, or hidden */
	for (const char *fd; *held <= LOCKS_MAX && (fd = next(d));) count(dirfd(d), fd, held);
	closedir(d);
	return 1;
}

int too_many_locks(void)
{
	uint64_t held = 0;
	int seen = 1;
	DIR *proc = open_dir(AT_FDCWD, "/proc");
	if (!proc) return 0;
	for (const char *pid; seen && held <= LOCKS_MAX && (pid = next(proc));) {
		char path[280];
		if (strcmp(pid, "1") == 0) continue;
		snprintf(path, sizeof path, "%s/task", pid);
		DIR *tasks = open_dir(dirfd(proc), path);
		if (!tasks) continue; /* gone */
		for (const char *tid; seen && held <= LOCKS_MAX && (tid = next(tasks));) seen = count_thread(dirfd(tasks), tid, &held);
		closedir(tasks);
	}
	closedir(proc);
	return !seen || held > LOCKS_MAX;
}
