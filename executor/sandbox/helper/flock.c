/*
 * flock and F_GETLK on a file that runs share would be a channel between two of them: one locks, the other asks.
 * A filter cannot see which file a descriptor is, so both come to PID 1. It does not let the caller go on with them,
 * since another thread could put another file in the descriptor's place after the look: it takes a copy
 * of the descriptor and does the call itself. A lock of flock belongs to the open file, so it is the caller's.
 *
 * POSIX locks stay the caller's own calls. A shared file is open for reading alone, so it can have read
 * locks alone, and these show only to F_GETLK.
 */
#include "helper.h"
#include <linux/seccomp.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL /* Linux 6.9 */
#endif

enum { WAITING = 64, ASKED_MAX = 100000 }; /* of a run: PID 1 works at no one's expense */
static struct { uint64_t id; int fd, operation; } waiting[WAITING];
static int asked;

void answer(int listener, uint64_t id, int error)
{
	struct seccomp_notif_resp resp;
	memset(&resp, 0, sizeof resp);
	resp.id = id;
	resp.error = error;
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &resp); /* a caller that was killed meanwhile needs none */
}

/* A thread's process; 0 where it is gone. */
static pid_t process_of(pid_t tid)
{
	char path[32], text[512], *at;
	snprintf(path, sizeof path, "/proc/%d/status", tid);
	int f = open(path, O_RDONLY | O_CLOEXEC);
	if (f < 0) return 0;
	ssize_t n = read(f, text, sizeof text - 1);
	close(f);
	text[n < 0 ? 0 : n] = 0;
	return (at = strstr(text, "\nTgid:")) ? (pid_t)atoi(at + 6) : 0;
}

static int copy_descriptor(pid_t tid, int fd)
{
	int process = (int)syscall(SYS_pidfd_open, tid, PIDFD_THREAD);
	if (process < 0) process = (int)syscall(SYS_pidfd_open, process_of(tid), 0);
	if (process < 0) return -1;
	int copy = (int)syscall(SYS_pidfd_getfd, process, fd, 0);
	int e = errno;
	close(process);
	errno = e;
	return copy;
}

/* The file system of memfd_create, where each file is of who made it. */
static dev_t memory(void)
{
	static dev_t dev;
	struct stat st;
	int fd = dev ? -1 : memfd_create("", MFD_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0) dev = st.st_dev;
	if (fd >= 0) close(fd);
	return dev;
}

/*
 * Whether a file is of this run alone: in its workspace, its /tmp or its memory. That it has no name says nothing: so
 * has a library of the host's that was replaced since.
 */
static int is_own(int fd)
{
	struct stat file, own;
	if (fstat(fd, &file) < 0) return 0;
	for (int i = 0; i < 2; i++)
		if (stat(i ? "/tmp" : "/workspace", &own) == 0 && own.st_dev == file.st_dev) return 1;
	return memory() && memory() == file.st_dev;
}

static void lock(int listener, const struct seccomp_notif *req, int fd)
{
	int operation = (int)req->data.args[1];
	if (flock(fd, operation | LOCK_NB) == 0) {
		answer(listener, req->id, 0);
	} else if (errno != EWOULDBLOCK || operation & LOCK_NB) {
		answer(listener, req->id, -errno);
	} else {
		for (int i = 0; i < WAITING; i++) {
			if (waiting[i].id) continue;
			waiting[i].id = req->id, waiting[i].fd = fd, waiting[i].operation = operation;
			return; /* fd is kept */
		}
		answer(listener, req->id, -ENOLCK);
	}
	close(fd);
}

/* The caller's own locks are in nobody's way; to PID 1 they look like another's. */
static int ask(const struct seccomp_notif *req, int fd)
{
	struct flock l;
	pid_t tid = (pid_t)req->pid;
	struct iovec here = { &l, sizeof l }, there = { (void *)(uintptr_t)req->data.args[2], sizeof l };
	if (process_vm_readv(tid, &here, 1, &there, 1, 0) != sizeof l) return -EFAULT;
	if (fcntl(fd, F_GETLK, &l) < 0) return -errno;
	if (l.l_type != F_UNLCK && l.l_pid == process_of(tid)) l.l_type = F_UNLCK;
	return process_vm_writev(tid, &here, 1, &there, 1, 0) == sizeof l ? 0 : -EFAULT;
}

/* Answers a call about a lock; false where the file is shared, so that the call is denied as any other. */
int lock_asked(int listener, const struct seccomp_notif *req)
{
	int is_flock = req->data.nr == SYS_flock;
	if (!is_flock && !(req->data.nr == SYS_fcntl && (int)req->data.args[1] == F_GETLK)) return 0;
	if (asked == ASKED_MAX) {
		answer(listener, req->id, -ENOLCK);
		return 1;
	}
	asked++;
	int fd = copy_descriptor((pid_t)req->pid, (int)req->data.args[0]);
	if (fd < 0) {
		answer(listener, req->id, errno == ESRCH ? -EBADF : -errno);
		return 1;
	}
	if (!is_own(fd)) {
		close(fd);
		return 0;
	}
	if (is_flock) {
		lock(listener, req, fd);
	} else {
		answer(listener, req->id, ask(req, fd));
		close(fd);
	}
	return 1;
}

/* Tries again for those who wait; true as long as someone does. */
int retry_locks(int listener)
{
	int left = 0;
	for (int i = 0; i < WAITING; i++) {
		if (!waiting[i].id) continue;
		int gone = ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &waiting[i].id) < 0;
		if (!gone && flock(waiting[i].fd, waiting[i].operation | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
			left = 1;
			continue;
		}
		if (!gone) answer(listener, waiting[i].id, 0);
		close(waiting[i].fd);
		waiting[i].id = 0;
	}
	return left;
}
