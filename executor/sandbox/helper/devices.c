/*
 * /dev of a slot. A lock is kept by inode, so a node that runs share is a channel between them: one locks /dev/null, and
 * the other is refused. Where the kernel lets this process make nodes, each slot has inodes of its own, and a run
 * one mount to copy instead of one a node. An ordinary user cannot make any: there the host's are bound, and PID 1 looks
 * for locks on them.
 */
#include "helper.h"
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

enum { MEMORY = 1 }; /* the major number; the minor ones are as fixed, see the kernel's devices.txt */
const struct device devices[DEVICES] = { { "null", 3 }, { "zero", 5 }, { "full", 7 }, { "random", 8 }, { "urandom", 9 } };

void link_devices(const char *step)
{
	static const char *const links[][2] = {
		{ "dev/fd", "/proc/self/fd" }, { "dev/stdin", "/proc/self/fd/0" }, { "dev/stdout", "/proc/self/fd/1" },
		{ "dev/stderr", "/proc/self/fd/2" }, { "dev/shm", "/tmp/.shm" },
	};
	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		if (symlink(links[i][1], links[i][0]) < 0) die(step, links[i][0]);
}

void make_devices(const char *step)
{
	struct mount_attr ro = { .attr_set = MOUNT_ATTR_RDONLY };
	char path[16];
	mode_t mask = umask(0);
	if (mount("tmpfs", "dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=16k,nr_inodes=16") < 0) die(step, "dev");
	for (int i = 0; i < DEVICES; i++) {
		snprintf(path, sizeof path, "dev/%s", devices[i].name);
		if (mknod(path, S_IFCHR | 0666, makedev(MEMORY, devices[i].minor)) < 0) die(step, path);
	}
	link_devices(step);
	umask(mask);
	if (mount_setattr(AT_FDCWD, "dev", 0, &ro, sizeof ro) < 0) die(step, "read_only");
}
