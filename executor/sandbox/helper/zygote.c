/*
 * The zygote's part in C, which its Python loads as a library: the same lockdown as a cold start's, with
 * another end. A zygote is a Python that has imported what programs often do and has never run any. On the
 * supervisor's word it clones itself into a new PID namespace. That process becomes PID 1 of a run just as
 * the helper does, and forks PID 2, which locks itself down just as the helper's child does, and goes on
 * in Python where that would execute an interpreter.
 *
 * The request of a run comes over the run's own socket, read in its PID 1: no byte of a job is ever in the
 * memory of the zygote, which all later runs are copies of.
 */
#include "helper.h"
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define EXPORT __attribute__((visibility("default")))

/* stdio, the run's control socket, mount, user and network namespace; then what joins cgroups. */
enum { FIXED_FDS = 7, MAX_FDS = FIXED_FDS + 8, ABOVE = 200 };

static struct request request;
static char buffer[MAX_REQUEST];
static struct shared *shared;
static int report[2]; /* PID 2 sends its listener here */

static int hear(struct request *r, int *fds, int *n)
{
	static char words[MAX_REQUEST];
	union { char bytes[CMSG_SPACE(sizeof(int) * MAX_FDS)]; struct cmsghdr align; } control;
	struct iovec iov = { words, sizeof words };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes };
	ssize_t len;
	while ((len = recvmsg(FD_CONTROL, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {}
	if (len <= 0) return 0; /* nobody is there any more */
	*n = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
			*n = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
			memcpy(fds, CMSG_DATA(c), sizeof(int) * (size_t)*n);
		}
	if (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC) || decode(r, words, (size_t)len) < 0) die("zygote.message", NULL);
	return 1;
}

/* Puts the descriptors where the helper has them, out of each other's way first. */
static void arrange(const int *fds, int n)
{
	for (int i = 0; i < n; i++)
		if (dup3(fds[i], ABOVE + i, O_CLOEXEC) < 0) _exit(111); /* there is no socket yet to say so */
	for (int i = 0; i < n; i++) {
		int to = i < 4 ? i : i < FIXED_FDS ? FD_MNT + i - 4 : FD_CGROUP + i - FIXED_FDS;
		if (dup2(ABOVE + i, to) < 0) _exit(111);
	}
	close(FD_BASE_USER);
	if (syscall(SYS_close_range, FD_CGROUP + n - FIXED_FDS, ~0U, 0) < 0) _exit(111);
}

static void begin_run(const int *fds, int n)
{
	arrange(fds, n);
	signal(SIGCHLD, SIG_DFL);
	errno = EBADMSG;
	if (receive(&request, buffer) <= 0 || request.verb != VERB_RUN) die("request", NULL);
	request.flags |= FLAG_FORKED;
	shared = become_init(&request);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, report) < 0) die("run.report", NULL);
}

/* Serves the supervisor. Returns in the PID 1 of a run, which has to fork then. */
EXPORT void zygote_serve(void)
{
	int fds[MAX_FDS], n, pidfd;
	signal(SIGCHLD, SIG_IGN); /* what ends is reaped by the kernel; the supervisor has a pidfd */
	for (;;) {
		struct request r;
		if (!hear(&r, fds, &n)) _exit(0);
		struct reply ok = { .kind = REPLY_READY };
		if (r.verb == VERB_PING) {
			reply(&ok, NULL, 0);
			continue;
		}
		errno = EBADMSG;
		if (r.verb != VERB_FORK || n < FIXED_FDS) die("zygote.message", NULL);
		struct clone_args args = { .flags = CLONE_NEWPID | CLONE_PIDFD, .pidfd = (uint64_t)(uintptr_t)&pidfd, .exit_signal = SIGCHLD };
		pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
		if (pid == 0) {
			begin_run(fds, n);
			return;
		}
		int failed = errno;
		for (int i = 0; i < n; i++) close(fds[i]);
		if (pid < 0) { /* of processes, say, there are too many just now */
			ok.kind = REPLY_FAILED;
			ok.err = failed;
			snprintf(ok.step, sizeof ok.step, "zygote.clone");
			reply(&ok, NULL, 0);
			continue;
		}
		ok.status = pid;
		reply(&ok, &pidfd, 1);
		close(pidfd);
	}
}

/* In PID 2: what lock_down does, and the listener to PID 1, over a socket since the table is not shared. */
EXPORT void zygote_become(void)
{
	union { char bytes[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } control = { { 0 } };
	struct iovec iov = { "l", 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	lock_down(&request, shared, FD_CGROUP);
	if (shared->listener >= 0) {
		int listener = shared->listener;
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof control.bytes;
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &listener, sizeof listener);
	}
	shared->started_ns = now_ns();
	if (sendmsg(report[1], &m, MSG_NOSIGNAL) != 1) _exit(112);
	keep_stdio(&request, 0);
	munmap(shared, sizeof *shared); /* what PID 1 reads is not the program's to write */
}

/* In PID 1: until the end. */
EXPORT void zygote_attend(int program)
{
	union { char bytes[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } control;
	char word;
	struct iovec iov = { &word, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes };
	ssize_t len;
	close(report[1]);
	while ((len = recvmsg(report[0], &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {}
	close(report[0]);
	shared->listener = -1; /* its number is another here */
	struct cmsghdr *c = len == 1 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_type == SCM_RIGHTS) {
		int listener;
		memcpy(&listener, CMSG_DATA(c), sizeof listener);
		shared->listener = listener;
	}
	if (len != 1 && !shared->err) {
		errno = ECHILD;
		die("user.report", NULL);
	}
	attend(&request, shared, program);
}

/* What the run asked for, by index; NULL behind the last. */
EXPORT const char *zygote_argument(int i) { return i < (int)request.argc ? request.argv[i] : NULL; }
EXPORT const char *zygote_variable(int i) { return i < (int)request.envc ? request.envp[i] : NULL; }

/* Of CPython, whose process this is loaded into; the parts that are needed of its stable interface. */
typedef struct object object;
extern object *PyExc_SystemExit, *PyExc_KeyboardInterrupt;
object *PyRun_FileExFlags(FILE *, const char *, int, object *, object *, int, void *);
int PyErr_ExceptionMatches(object *);
void PyErr_Print(void);
enum { FILE_INPUT = 257 /* Py_file_input */ };
enum { ENDED = 0, RAISED = 1, NO_FILE = 2, INTERRUPTED = 3 };

/*
 * Runs a file in a namespace as the interpreter's own command line does, and prints what it raised. What is
 * left is SystemExit, which the caller gets to see: printing that one would end the process.
 */
EXPORT long zygote_run(const char *name, object *globals)
{
	FILE *f = fopen(name, "rb");
	if (!f) {
		int err = errno; /* in the words of the interpreter's own main */
		fprintf(stderr, "%s: can't open file '%s': [Errno %d] %s\n", request.argv[0], name, err, strerror(err));
		return NO_FILE;
	}
	if (PyRun_FileExFlags(f, name, FILE_INPUT, globals, globals, 1, NULL)) return ENDED;
	if (PyErr_ExceptionMatches(PyExc_SystemExit)) return ENDED; /* set, so that it is raised from here */
	long how = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) ? INTERRUPTED : RAISED;
	PyErr_Print();
	return how;
}
