/*
 * VERB_BASE: builds, once, the read-only root that every run sees, in a mount namespace of its own,
 * and hands that namespace's descriptor back. A run enters it and copies a dozen mounts, instead of
 * copying the host's mount table and building a root for itself.
 *
 * Order matters. Sources are opened first, because the staging tmpfs hides what lies below it. All
 * mounts are made before the root turns read-only. pivot_root comes last: after it, nothing of the
 * host's tree is in the namespace.
 */
#include "helper.h"
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#define STAGING "/tmp" /* hidden only inside this namespace */

static int sources[MAX_ITEMS];

static int write_at(int dir, const char *path, const char *text)
{
	int fd = openat(dir, path, O_WRONLY | O_CLOEXEC);
	if (fd < 0) return -1;
	ssize_t n = write(fd, text, strlen(text));
	close(fd);
	return n < 0 ? -1 : 0;
}

/* An ordinary user may map one identity, its own, and only with setgroups denied. */
static void enter_user_namespace(void)
{
	char map[64];
	uid_t uid = geteuid();
	gid_t gid = getegid();
	if (unshare(CLONE_NEWUSER) < 0) die("base.user_namespace", NULL);
	if (write_at(FD_PROC, "self/setgroups", "deny") < 0) die("base.setgroups", NULL);
	snprintf(map, sizeof map, "0 %u 1", uid);
	if (write_at(FD_PROC, "self/uid_map", map) < 0) die("base.uid_map", map);
	snprintf(map, sizeof map, "0 %u 1", gid);
	if (write_at(FD_PROC, "self/gid_map", map) < 0) die("base.gid_map", map);
}

static void open_source(struct item *it, int *fd)
{
	if (it->tag == TAG_COPY)
		*fd = open(it->second, O_RDONLY | O_CLOEXEC);
	else
		*fd = open_tree(AT_FDCWD, it->second,
				OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	if (*fd < 0) die("base.open", it->second);
}

static void create(int root, const char *path, const char *data, size_t len, mode_t mode)
{
	int fd = openat(root, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0) die("base.create", path);
	while (len > 0) {
		ssize_t n = write(fd, data, len);
		if (n < 0) die("base.write", path);
		data += n;
		len -= (size_t)n;
	}
	if (fchmod(fd, mode) < 0) die("base.mode", path);
	close(fd);
}

static void copy(int root, const char *path, int from)
{
	static char chunk[1 << 16];
	int to = openat(root, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (to < 0) die("base.copy", path);
	for (ssize_t n; (n = read(from, chunk, sizeof chunk)) != 0;)
		if (n < 0 || write(to, chunk, (size_t)n) != n) die("base.copy", path);
	if (fchmod(to, 0755) < 0) die("base.copy", path);
	close(to);
	close(from);
}

static void attach(int root, struct item *it, int tree, int device)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | (device ? MOUNT_ATTR_NOEXEC : MOUNT_ATTR_NODEV),
		.propagation = MS_PRIVATE,
	};
	struct stat st;
	if (mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr) < 0)
		die("base.read_only", it->second);
	if (fstat(tree, &st) < 0) die("base.stat", it->second);
	if (S_ISDIR(st.st_mode)) {
		if (mkdirat(root, it->data, 0755) < 0 && errno != EEXIST) die("base.mountpoint", it->data);
	} else {
		create(root, it->data, "", 0, 0644);
	}
	if (move_mount(tree, "", root, it->data, MOVE_MOUNT_F_EMPTY_PATH) < 0) die("base.bind", it->data);
	close(tree);
}

static void build(struct request *r, int root)
{
	for (uint32_t i = 0; i < r->n; i++) {
		struct item *it = &r->items[i];
		switch (it->tag) {
		case TAG_DIR:
			if (mkdirat(root, it->data, 0755) < 0 && errno != EEXIST) die("base.mkdir", it->data);
			break;
		case TAG_LINK:
			if (symlinkat(it->second, root, it->data) < 0) die("base.symlink", it->data);
			break;
		case TAG_FILE: create(root, it->data, it->second, it->second_len, 0644); break;
		case TAG_COPY: copy(root, it->data, sources[i]); break;
		case TAG_BIND: attach(root, it, sources[i], 0); break;
		case TAG_NODE: attach(root, it, sources[i], 1); break;
		}
	}
	if (r->flags & FLAG_OWN_DEVICES)
		make_devices("base.devices");
	else
		link_devices("base.devices");
}

/*
 * Names are looked up with root as the root, so that none of them, whatever it is, leads out of it.
 * pivot_root asks for the caller's own root to be a mount of its own, so the old one comes back.
 */
static void build_inside(struct request *r, int root)
{
	int outside = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (outside < 0 || fchdir(root) < 0 || chroot(".") < 0) die("base.inside", NULL);
	build(r, root);
	if (fchdir(outside) < 0 || chroot(".") < 0) die("base.outside", NULL);
	close(outside);
}

void base(struct request *r)
{
	int fds[2], n = 0;
	if (r->flags & FLAG_NESTED) enter_user_namespace();
	if (unshare(CLONE_NEWNS) < 0) die("base.mount_namespace", NULL);
	if (mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) die("base.private", NULL);
	umask(0);
	for (uint32_t i = 0; i < r->n; i++)
		if (r->items[i].tag >= TAG_COPY && r->items[i].tag <= TAG_NODE) open_source(&r->items[i], &sources[i]);
	if (mount("tmpfs", STAGING, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=16m") < 0) die("base.tmpfs", NULL);
	int root = open(STAGING, O_DIRECTORY | O_CLOEXEC);
	if (root < 0) die("base.root", NULL);
	build_inside(r, root);
	struct mount_attr ro = { .attr_set = MOUNT_ATTR_RDONLY };
	if (mount_setattr(root, "", AT_EMPTY_PATH, &ro, sizeof ro) < 0) die("base.read_only", "/");
	if ((fds[n++] = openat(FD_PROC, "self/ns/mnt", O_RDONLY | O_CLOEXEC)) < 0) die("base.descriptor", "mnt");
	if (r->flags & FLAG_NESTED)
		if ((fds[n++] = openat(FD_PROC, "self/ns/user", O_RDONLY | O_CLOEXEC)) < 0) die("base.descriptor", "user");
	if (fchdir(root) < 0) die("base.chdir", NULL);
	if (syscall(SYS_pivot_root, ".", ".") < 0) die("base.pivot_root", NULL);
	if (umount2(".", MNT_DETACH) < 0) die("base.detach", NULL);
	struct reply ok = { .kind = REPLY_READY };
	reply(&ok, fds, n);
	_exit(0);
}
