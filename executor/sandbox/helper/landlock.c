/*
 * Landlock, the second layer: what the mounts leave reachable is allowed by path once more, so that a
 * mistake in one layer is not yet a hole. TCP is denied but for connecting to the ports of a run with hosts, and where the kernel knows scopes (ABI 6),
 * abstract sockets and signals stay inside.
 */
#include "helper.h"
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Rights that a request names; the kernel's bits are added by ABI. */
enum { LL_READ = 1, LL_EXECUTE = 2, LL_WRITE = 4, LL_DEVICE = 8, LL_LIST = 16 };

#define FS_EXECUTE (1ull << 0)
#define FS_WRITE_FILE (1ull << 1)
#define FS_READ_FILE (1ull << 2)
#define FS_READ_DIR (1ull << 3)
#define FS_ABI1 ((1ull << 13) - 1)
#define FS_REFER (1ull << 13)
#define FS_TRUNCATE (1ull << 14)
#define FS_IOCTL_DEV (1ull << 15)
#define FS_NEVER ((1ull << 6) | (1ull << 11)) /* making character and block devices */
#define FS_OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

struct attr { /* struct landlock_ruleset_attr of ABI 6; older headers lack the tail */
	uint64_t fs, net, scoped;
};

struct port_attr { /* struct landlock_net_port_attr of ABI 4 */
	uint64_t allowed, port;
};
enum { RULE_NET_PORT = 2, NET_CONNECT = 2 };

static uint64_t rights(uint32_t want, uint64_t handled)
{
	uint64_t a = 0;
	if (want & LL_READ) a |= FS_READ_FILE | FS_READ_DIR;
	if (want & LL_EXECUTE) a |= FS_EXECUTE;
	if (want & LL_WRITE) a |= handled & ~(FS_EXECUTE | FS_IOCTL_DEV | FS_NEVER);
	if (want & LL_LIST) a |= FS_READ_DIR;
	if (want & LL_DEVICE) a |= FS_READ_FILE | FS_WRITE_FILE | FS_IOCTL_DEV | FS_TRUNCATE;
	return a & handled;
}

static int allow(int ruleset, struct item *it, uint64_t handled)
{
	uint32_t want;
	struct stat st;
	memcpy(&want, it->data, 4);
	int fd = open(it->data + 4, O_PATH | O_CLOEXEC);
	if (fd < 0) return -1;
	struct landlock_path_beneath_attr rule = { rights(want, handled), fd };
	if (fstat(fd, &st) < 0) return -1;
	if (!S_ISDIR(st.st_mode)) rule.allowed_access &= FS_OF_FILES;
	int e = (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
	close(fd);
	return e;
}

/* Connecting alone: nothing in the run ever listens. */
static int allow_port(int ruleset, struct item *it)
{
	struct port_attr rule = { .allowed = NET_CONNECT };
	uint32_t port;
	memcpy(&port, it->data + 4, 4);
	rule.port = port;
	return (int)syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT, &rule, 0);
}

int landlock(struct request *r, const char **detail)
{
	int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	if (abi < 1) return -1;
	struct attr a = { .fs = FS_ABI1 };
	size_t size = 8;
	if (abi >= 2) a.fs |= FS_REFER;
	if (abi >= 3) a.fs |= FS_TRUNCATE;
	if (abi >= 4) a.net = 3, size = 16; /* bind and connect TCP */
	if (abi >= 5) a.fs |= FS_IOCTL_DEV;
	if (abi >= 6) a.scoped = 3, size = 24; /* abstract unix sockets and signals */
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, &a, size, 0);
	if (ruleset < 0) return -1;
	for (uint32_t i = 0; i < r->n; i++)
		if (r->items[i].tag == TAG_LANDLOCK && allow(ruleset, &r->items[i], a.fs) < 0) {
			*detail = r->items[i].data + 4;
			return -1;
		}
	for (uint32_t i = 0; abi >= 4 && i < r->n; i++)
		if (r->items[i].tag == TAG_LISTEN && allow_port(ruleset, &r->items[i]) < 0) return -1;
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0) return -1;
	close(ruleset);
	return abi;
}
