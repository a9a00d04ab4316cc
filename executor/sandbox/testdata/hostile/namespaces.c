// class: ok
// stdout: all held
// denied: clone unshare setns
#include "hostile.h"
int main(void)
{
	static const int kinds[] = { CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP };
	static const char *names[] = { "user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time" };
	for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		refused(EPERM, syscall(SYS_clone, kinds[i] | SIGCHLD, 0, 0, 0, 0));
		refused(EPERM, syscall(SYS_clone, CLONE_NEWUSER | kinds[i] | SIGCHLD, 0, 0, 0, 0));
		refused(EPERM, syscall(SYS_unshare, kinds[i]));
	}
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		char path[64];
		snprintf(path, sizeof path, "/proc/self/ns/%s", names[i]);
		refused(EPERM, syscall(SYS_setns, open(path, O_RDONLY), 0));
		snprintf(path, sizeof path, "/proc/1/ns/%s", names[i]);
		fails(open(path, O_RDONLY));
	}
	fails(open("/proc/self/uid_map", O_WRONLY));
	fails(open("/proc/self/gid_map", O_WRONLY));
	fails(open("/proc/self/setgroups", O_WRONLY));
	return verdict();
}
