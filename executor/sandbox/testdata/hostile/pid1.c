// class: ok
// stdout: all held
// PID 1 is of the same identity, and still out of reach.
#include "hostile.h"
int main(void)
{
	static const char *closed[] = { "mem", "fd", "root", "cwd", "exe", "ns", "environ", "maps", "fdinfo", "map_files", "syscall", "stack", "auxv", "io", "pagemap" };
	for (unsigned i = 0; i < sizeof closed / sizeof *closed; i++) {
		char path[64], target[64];
		snprintf(path, sizeof path, "/proc/1/%s", closed[i]);
		int fd = open(path, O_RDONLY);
		if (fd >= 0) { /* what opens must not be read */
			errno = 0;
			fact(path, read(fd, target, 1) <= 0 && !fdopendir(fd));
			close(fd);
		}
		snprintf(path, sizeof path, "/proc/1/%s/..", closed[i]);
		fails(readlink("/proc/1/exe", target, sizeof target));
	}
	fails(open("/proc/1/root/etc/passwd", O_RDONLY));
	fails(chdir("/proc/1/cwd"));
	for (int s = 1; s < 65; s++) {
		kill(1, s);
		sigqueue(1, s, (union sigval){ 0 });
	}
	int pidfd = (int)syscall(SYS_pidfd_open, 1, 0);
	refused(EPERM, syscall(SYS_pidfd_getfd, pidfd, 3, 0));
	refused(EPERM, syscall(SYS_ptrace, 16, 1, 0, 0)); /* attach */
	refused(EPERM, syscall(SYS_ptrace, 0x4206, 1, 0, 0)); /* seize */
	struct rlimit none = { 0, 0 };
	for (int r = 0; r < 16; r++) fails(prlimit(1, r, &none, NULL)); /* no descriptors, no time: it would end unseen */
	for (int which = PRIO_PROCESS; which <= PRIO_USER; which++) fails(setpriority(which, 1, 19));
	fails(setpriority(PRIO_PGRP, 0, 19));
	fails(setpriority(PRIO_USER, 0, 19));
	fact("PID 1 is there", access("/proc/1", F_OK) == 0);
	refused(EPERM, socket(AF_INET, SOCK_STREAM, 0)); /* it still answers */
	return verdict();
}
