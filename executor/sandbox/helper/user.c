/*
 * PID 2: from a clone of the reaper to the program. The order is the point: the cgroup first, so that
 * everything after is charged to the job; then the job's identity; rlimits while raising them is still allowed; capabilities
 * before no_new_privs; Landlock before seccomp, whose filter does not allow it; the descriptors last
 * but one, because the seccomp listener has to stay behind in the reaper's table.
 */
#include "helper.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
enum { LAST_CAPABILITY = 63 };

static struct shared *out;

_Noreturn static void fail(const char *step, const char *detail)
{
	out->err = errno ? errno : EINVAL;
	snprintf(out->step, sizeof out->step, "%s", step);
	snprintf(out->detail, sizeof out->detail, "%s", detail ? detail : "");
	_exit(112);
}

static void join_cgroups(struct request *r, int first)
{
	if ((r->flags & FLAG_CGROUP2) && !(r->flags & FLAG_FORKED)) return; /* it was cloned there */
	if (r->flags & FLAG_CGROUP2) {
		int fd = openat(first, "cgroup.procs", O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, "0", 1) != 1) fail("user.cgroup", NULL);
		close(fd);
		return;
	}
	/* "0" is the writer itself: moving one's own thread skips the lock that costs milliseconds. */
	for (uint32_t i = 0; i < r->cgroups; i++)
		if (write(first + (int)i, "0", 1) != 1) fail("user.cgroup", NULL);
}

/* The limit of descriptors comes last: what is still to be done opens some. */
static void limit(struct request *r, int descriptors)
{
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->items[i].tag != TAG_RLIMIT) continue;
		uint32_t resource;
		uint64_t value;
		memcpy(&resource, r->items[i].data, 4);
		memcpy(&value, r->items[i].data + 4, 8);
		struct rlimit l = { value, value };
		if ((resource == RLIMIT_NOFILE) != descriptors) continue;
		if (setrlimit((int)resource, &l) < 0) fail("user.rlimit", NULL);
	}
}

static void drop(void)
{
	for (int c = 0; c <= LAST_CAPABILITY; c++)
		if (prctl(PR_CAPBSET_DROP, c, 0, 0, 0) < 0) {
			if (errno == EINVAL && c > 0) break; /* past the kernel's last one */
			fail("user.bounding_set", NULL);
		}
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0) fail("user.ambient", NULL);
	if (drop_capabilities() < 0) fail("user.capabilities", NULL);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) fail("user.no_new_privs", NULL);
}

static void filter(struct request *r)
{
	if (r->flags & FLAG_NO_FILTER) return;
	if (!r->filter.data) {
		errno = EBADMSG;
		fail("user.seccomp", "no filter");
	}
	struct sock_fprog prog = { (unsigned short)(r->filter.len / 8), (struct sock_filter *)r->filter.data };
	unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &prog);
	if (fd < 0 && errno == EINVAL) /* the second flag is Linux 5.19 */
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
	if (fd < 0) fail("user.seccomp", NULL);
	out->listener = (int)fd;
}

void lock_down(struct request *r, struct shared *s, int cgroup)
{
	const char *detail = NULL;
	sigset_t none;
	out = s;
	errno = 0;
	join_cgroups(r, cgroup);
	detail = become_job();
	if (detail) fail("user.identity", detail);
	/* Hides the path of the cgroup on the host from /proc/self/cgroup. */
	if (unshare(CLONE_NEWCGROUP) < 0) fail("user.cgroup_namespace", NULL);
	if (setsid() < 0) fail("user.session", NULL);
	limit(r, 0);
	drop();
	if (!(r->flags & FLAG_NO_LANDLOCK)) {
		int abi = landlock(r, &detail);
		if (abi < 0) fail("user.landlock", detail);
		s->landlock = (uint32_t)abi;
	}
	/* What an exec would set again: without it, the process cannot open its own /proc. */
	if ((r->flags & FLAG_FORKED) && prctl(PR_SET_DUMPABLE, 1) < 0) fail("user.dumpable", NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	filter(r);
}

void keep_stdio(struct request *r, unsigned flags)
{
	if (syscall(SYS_close_range, FD_CONTROL, ~0U, flags) < 0) fail("user.descriptors", NULL);
	limit(r, 1);
}

void become_user(struct request *r, struct shared *s, int cgroup)
{
	signal(SIGPIPE, SIG_DFL);
	lock_down(r, s, cgroup);
	/* A table of its own with nothing above stderr in it: the listener stays with the reaper. */
	keep_stdio(r, 2 /* CLOSE_RANGE_UNSHARE */);
	s->started_ns = now_ns();
	execve(r->argv[0], r->argv, r->envp);
	fail("user.exec", r->argv[0]);
}
