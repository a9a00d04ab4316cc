/*
 * VERB_SLOT: prepares, off the request path, what one job owns: a copy of the base's mount namespace
 * with the job's workspace mounted in it, a network namespace with nothing in it, a user namespace
 * that maps the job's one identity. All are handed back as descriptors; nothing of it is visible on
 * the host, and closing the descriptors is what removes it.
 */
#include "helper.h"
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { JOB_ID = 1000 }; /* the job's uid and gid as it sees them */

static int open_ns(const char *who, const char *kind)
{
	char path[64];
	snprintf(path, sizeof path, "%s/ns/%s", who, kind);
	int fd = openat(FD_PROC, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) die("slot.descriptor", path);
	return fd;
}

static void write_map(const char *pid, const char *file, const char *text)
{
	char path[64];
	snprintf(path, sizeof path, "%s/%s", pid, file);
	int fd = openat(FD_PROC, path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0) die("slot.map", path);
	close(fd);
}

/*
 * A map that names an identity other than the writer's own needs a writer in the parent namespace,
 * so a child makes the namespace and this process maps it.
 */
static int user_namespace(struct request *r)
{
	char pid[16], map[64];
	int ready[2];
	if (pipe2(ready, O_CLOEXEC) < 0) die("slot.pipe", NULL);
	pid_t child = fork();
	if (child < 0) die("slot.fork", NULL);
	if (child == 0) {
		char ok = unshare(CLONE_NEWUSER) == 0 ? 0 : (char)errno;
		if (write(ready[1], &ok, 1) != 1) _exit(1);
		pause();
		_exit(0);
	}
	char failed = 1;
	close(ready[1]);
	if (read(ready[0], &failed, 1) != 1 || failed) {
		errno = failed;
		die("slot.user_namespace", NULL);
	}
	snprintf(pid, sizeof pid, "%d", child);
	snprintf(map, sizeof map, "%d %u 1", JOB_ID, r->id);
	if (r->flags & FLAG_NESTED) write_map(pid, "setgroups", "deny");
	write_map(pid, "uid_map", map);
	write_map(pid, "gid_map", map);
	int fd = open_ns(pid, "user");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return fd;
}

void slot(struct request *r)
{
	int fds[4];
	if (!r->tmpfs) {
		errno = EBADMSG;
		die("slot.request", "tmpfs");
	}
	if ((r->flags & FLAG_NESTED) && setns(FD_EXTRA + 1, CLONE_NEWUSER) < 0) die("slot.enter_user", NULL);
	fds[0] = user_namespace(r);
	if (setns(FD_EXTRA, CLONE_NEWNS) < 0) die("slot.enter_root", NULL);
	if (unshare(CLONE_NEWNS) < 0) die("slot.mount_namespace", NULL);
	if (!(r->flags & FLAG_NO_NETNS) && unshare(CLONE_NEWNET) < 0) die("slot.net_namespace", NULL);
	if (r->flags & FLAG_OWN_DEVICES) {
		if (chdir("/") < 0 || umount2("dev", MNT_DETACH) < 0) die("slot.devices", "base");
		make_devices("slot.devices");
	}
	if (mount("tmpfs", "/workspace", "tmpfs", MS_NOSUID | MS_NODEV, r->tmpfs) < 0) die("slot.workspace", r->tmpfs);
	fds[1] = open_ns("self", "mnt");
	fds[2] = open_ns("self", "net");
	if ((fds[3] = open("/workspace", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) die("slot.open_workspace", NULL);
	struct reply ok = { .kind = REPLY_READY };
	reply(&ok, fds, 4);
	_exit(0);
}
