/*
 * VERB_RUN: PID 1 of a run. It enters the job's namespaces, starts the program as PID 2, gives up what
 * made that possible and stays as the program's reaper. User code is never PID 1, because the kernel makes
 * PID 1 ignore signals without a handler, its own SIGKILL and abort() included.
 *
 * When the run is over, PID 1 kills everything left in the PID namespace and reports after the last has
 * ended. Where it dies itself, the kernel does the same, and the parent's wait does not return before
 * that is done.
 */
#include "helper.h"
#include <grp.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>

enum { JOB_ID = 1000 };

int drop_capabilities(void)
{
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[2] = { 0 };
	return (int)syscall(SYS_capset, &h, none);
}

/*
 * An ordinary user cannot create a PID namespace from outside, so the process forks into one here and
 * waits. The child dies with it.
 */
static void nested_pid_namespace(void)
{
	if (setns(FD_BASE_USER, CLONE_NEWUSER) < 0) die("run.enter_base_user", NULL);
	if (unshare(CLONE_NEWPID) < 0) die("run.pid_namespace", NULL);
	pid_t init = fork();
	if (init < 0) die("run.fork", NULL);
	if (init == 0) return;
	for (int fd = 0; fd < FD_CGROUP + 8; fd++) close(fd);
	while (waitpid(init, NULL, 0) < 0 && errno == EINTR) {}
	_exit(0);
}

static void enter(struct request *r)
{
	if ((r->flags & (FLAG_NESTED | FLAG_FORKED)) == FLAG_NESTED) nested_pid_namespace();
	if (!(r->flags & FLAG_NESTED) && setgroups(0, NULL) < 0) die("run.groups", NULL);
	if (!(r->flags & FLAG_NO_NETNS) && setns(FD_NET, CLONE_NEWNET) < 0) die("run.enter_net", NULL);
	if (setns(FD_MNT, CLONE_NEWNS) < 0) die("run.enter_root", NULL);
	if (unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS) < 0) die("run.namespaces", NULL);
	if (sethostname("sandbox", 7) < 0) die("run.hostname", NULL);
	/* subset=pid leaves nothing of /proc but processes: no kallsyms, cmdline, config, sys. */
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "subset=pid") < 0) die("run.proc", NULL);
	if (mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, r->tmpfs) < 0) die("run.tmp", r->tmpfs);
	umask(0);
	if (mkdir("/tmp/.shm", 01777) < 0) die("run.shm", NULL);
	umask(022);
	if (r->hosts) hosts(r->hosts);
	if (chdir("/workspace") < 0) die("run.workspace", NULL);
	/* What protects PID 1 from its children is that it cannot be read or traced. */
	if (prctl(PR_SET_DUMPABLE, 0) < 0) die("run.undumpable", NULL);
}

/*
 * Both processes become the job's identity each for itself, after the clone: CLONE_INTO_CGROUP checks
 * the caller's right to the group, which only the identity that is given up here has. The namespaces
 * above belong to the user namespace that is left, so what comes after has no capability over any of
 * them, whatever it gains inside its own.
 */
const char *become_job(void)
{
	if (setns(FD_USER, CLONE_NEWUSER) < 0) return "enter_user";
	if (setresgid(JOB_ID, JOB_ID, JOB_ID) < 0) return "gid";
	if (setresuid(JOB_ID, JOB_ID, JOB_ID) < 0) return "uid";
	if (prctl(PR_SET_DUMPABLE, 0) < 0) return "undumpable";
	return NULL;
}

static void drop(struct request *r)
{
	const char *failed = become_job();
	if (failed) die("run.drop", failed);
	/* A change of identity clears it. A parent that is gone already has closed the socket. */
	if ((r->flags & (FLAG_NESTED | FLAG_FORKED)) == FLAG_NESTED && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) die("run.drop", "parent_death");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || drop_capabilities() < 0) die("run.drop", "capabilities");
}

static pid_t start(struct request *r, struct shared *s)
{
	/* CLONE_VFORK: returns after exec or failure. CLONE_FILES: the seccomp listener that the child
	 * installs appears here. CLONE_INTO_CGROUP: no migration, which costs milliseconds on v2. */
	struct clone_args args = { .flags = CLONE_VFORK | CLONE_FILES, .exit_signal = SIGCHLD };
	if (r->flags & FLAG_CGROUP2) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = FD_CGROUP;
	}
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
	if (pid < 0) die("run.start", NULL);
	if (pid == 0) become_user(r, s, FD_CGROUP);
	return pid;
}

/* Collects every dead child; true when the program itself was among them. */
static int reap(pid_t program, int *status, struct rusage *usage)
{
	int ended = 0, st;
	struct rusage u;
	for (pid_t pid; (pid = wait4(-1, &st, WNOHANG, &u)) > 0;)
		if (pid == program) {
			*status = st;
			*usage = u;
			ended = 1;
		}
	return ended;
}

static int waits; /* was pinged, and is not told to go yet */

static void limit(pid_t program, struct request *m)
{
	for (uint32_t i = 0; i < m->n; i++) {
		if (m->items[i].tag != TAG_RLIMIT) continue;
		uint32_t resource;
		uint64_t value;
		memcpy(&resource, m->items[i].data, 4);
		memcpy(&value, m->items[i].data + 4, 8);
		struct rlimit l = { value, value };
		/* Both have one identity, and lowering asks for no more than that. */
		if (prlimit(program, (int)resource, &l, NULL) < 0) die("go.rlimit", NULL);
	}
}

/*
 * What the supervisor says to a run that was started ahead of its program: ping, and once go, with the
 * limits of the program that comes now. They hold before go is answered, and the supervisor hands the
 * program over after that. False when it stops the run or is gone.
 */
static int hear(struct request *r, struct shared *s, pid_t program)
{
	static struct request message;
	static char words[MAX_REQUEST];
	int n = receive(&message, words);
	if (n == 0 || (n < 0 && errno == ECONNRESET)) return 0;
	if (n < 0) die("run.message", NULL);
	struct reply answer = { .kind = REPLY_READY, .landlock = s->landlock };
	if (message.verb == VERB_GO) {
		limit(program, &message);
		r->denied_max = message.denied_max;
		s->started_ns = now_ns();
		answer.kind = REPLY_STARTED;
		waits = 0;
	} else if (message.verb == VERB_PING) {
		waits = 1;
	} else {
		errno = EBADMSG;
		die("run.message", NULL);
	}
	reply(&answer, NULL, 0);
	return 1;
}

/* A look that took long is rested from for REST times as long. */
enum { LOOK_MS = 250, REST = 9, RETRY_MS = 10, TOO_MANY = -2 };

/* The least time until there is something to do unasked: locks to count, callers that wait for one. */
static int tick(struct shared *s, int signals, int own_devices, uint64_t *next)
{
	if (waits) return -1; /* nobody's code has run */
	uint64_t took, pause = LOOK_MS * 1000000ull;
	if (now_ns() >= *next) {
		if (too_many_locks(signals, own_devices, &took)) return TOO_MANY;
		*next = now_ns() + (took * REST > pause ? took * REST : pause);
	}
	if (retry_locks(s->listener)) return RETRY_MS;
	uint64_t now = now_ns();
	return now < *next ? (int)((*next - now) / 1000000) + 1 : 0;
}

/* Serves until the program ends (0), was denied too much (1), the supervisor stops or is gone (2), or the
 * run holds too many locks (3). */
static int serve(struct request *r, struct shared *s, pid_t program, int signals, struct denials *d,
		 int *status, struct rusage *usage)
{
	struct pollfd p[3] = { { .fd = signals, .events = POLLIN }, { .fd = FD_CONTROL, .events = POLLIN },
			       { .fd = s->listener, .events = POLLIN } };
	uint64_t look = now_ns() + LOOK_MS * 1000000ull;
	for (;;) {
		int wait = tick(s, signals, r->flags & FLAG_OWN_DEVICES, &look);
		if (wait == TOO_MANY) return 3;
		if (poll(p, 3, wait) < 0 && errno != EINTR) die("run.poll", NULL);
		if (p[2].revents & POLLIN) notify_once(s->listener, d);
		if (p[2].revents & (POLLHUP | POLLERR)) p[2].fd = -1; /* no process is left under the filter */
		if (d->total > r->denied_max) return 1;
		if (p[0].revents & POLLIN) {
			struct signalfd_siginfo si;
			while (read(signals, &si, sizeof si) > 0) {}
			if (reap(program, status, usage)) return 0;
		}
		if (p[1].revents && !hear(r, s, program)) return 2;
	}
}

/*
 * One call reaches every process of the namespace but this one, and none can fork past it. They are its
 * children when their parents are gone, so that none is left when there is nothing more to wait for.
 */
static void end_all(pid_t program, int *status, struct rusage *usage)
{
	int st;
	struct rusage u;
	kill(-1, SIGKILL);
	for (pid_t pid; (pid = wait4(-1, &st, 0, &u)) > 0 || (pid < 0 && errno == EINTR);)
		if (pid == program) {
			*status = st;
			*usage = u;
		}
}

static uint64_t nanoseconds(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_usec * 1000ull;
}

/* Only from in here can /tmp be seen: a disk verdict rests on it, not on what the program printed. */
static void measure_tmp(struct reply *end)
{
	struct statfs st;
	if (statfs("/tmp", &st) < 0) return;
	end->tmp_bytes = (uint64_t)(st.f_blocks - st.f_bfree) * (uint64_t)st.f_bsize;
	end->tmp_full = st.f_bavail == 0 || st.f_ffree == 0;
}

/*
 * What the audit library left, for the supervisor, which cannot see /tmp. Nobody is there any more who
 * could change it; but whatever lies there is the program's.
 */
static int open_audit(struct request *r)
{
	struct stat st;
	if (!(r->flags & FLAG_AUDIT)) return -1;
	int fd = open("/tmp/.callgate-audit", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

struct shared *become_init(struct request *r)
{
	if (!r->tmpfs || r->argc == 0) {
		errno = EBADMSG;
		die("run.request", NULL);
	}
	if (r->flags & FLAG_CGROUP2 && r->cgroups != 1) { /* it would run in no group of its own */
		errno = EBADMSG;
		die("run.request", "cgroups");
	}
	enter(r);
	struct shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED) die("run.memory", NULL);
	s->listener = -1;
	sigset_t child;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	return s;
}

void attend(struct request *r, struct shared *s, pid_t program)
{
	sigset_t child;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	int signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0) die("run.signalfd", NULL);
	if (s->err) {
		errno = s->err;
		die(s->step, s->detail);
	}
	for (int fd = 0; fd < FD_CONTROL; fd++) close(fd);
	drop(r);

	struct denials d = { 0 };
	struct rusage usage = { 0 };
	struct reply end = { .kind = REPLY_EXITED, .landlock = s->landlock };
	end.ended = (uint32_t)serve(r, s, program, signals, &d, &end.status, &usage);
	end.wall_ns = now_ns() - s->started_ns;
	end_all(program, &end.status, &usage);
	end.cpu_ns = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
	end.max_rss = (uint64_t)usage.ru_maxrss * 1024;
	end.denied_total = d.total;
	memcpy(end.denied, d.numbers, sizeof d.numbers);
	measure_tmp(&end);
	int audit = open_audit(r);
	reply(&end, &audit, audit >= 0);
	_exit(0);
}

void run(struct request *r)
{
	struct shared *s = become_init(r);
	attend(r, s, start(r, s));
}
