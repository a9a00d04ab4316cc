/*
 * A run's own /etc/hosts. The root is read-only and shared, so the file is made on the run's /tmp and
 * bound over the other; with its name gone there, the mount alone holds it. Both are done before the
 * program exists, in the mount namespace of this run.
 */
#include "helper.h"
#include <sys/mount.h>
#include <sys/syscall.h>

#define MADE "/tmp/.hosts"

void hosts(const char *text)
{
	size_t len = strlen(text);
	int fd = open(MADE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	if (fd < 0 || write(fd, text, len) != (ssize_t)len) die("run.hosts", "write");
	close(fd);
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC };
	int tree = open_tree(AT_FDCWD, MADE, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (tree < 0 || mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof attr) < 0) die("run.hosts", "mount");
	if (move_mount(tree, "", AT_FDCWD, "/etc/hosts", MOVE_MOUNT_F_EMPTY_PATH) < 0) die("run.hosts", "bind");
	close(tree);
	if (unlink(MADE) < 0) die("run.hosts", "unlink");
}
