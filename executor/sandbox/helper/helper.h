/*
 * The sandbox helper: the only code that runs privileged between the supervisor's request and the
 * first instruction of an untrusted program. It is static, allocates nothing on the hot path and
 * reads one request from its control socket (fd 3). The protocol is described in ../doc.go.
 */
#ifndef CALLGATE_HELPER_H
#define CALLGATE_HELPER_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

/* Descriptors that the supervisor installs before exec. */
enum {
	FD_CONTROL = 3, /* SOCK_SEQPACKET: one request in, replies out */
	FD_PROC = 4,    /* the host's /proc, for maps and namespace files */
	FD_EXTRA = 5,   /* verb-specific descriptors start here */
};

enum { REQUEST_MAGIC = 0x43470001, REPLY_MAGIC = 0x43470002 };
enum { VERB_BASE = 1, VERB_SLOT = 2, VERB_RUN = 3, VERB_CHECK = 4 };
/* Said to PID 1 of a run that waits for its program. */
enum { VERB_GO = 5, VERB_PING = 6 };
/* Starts a zygote; said to a zygote: start a run. */
enum { VERB_ZYGOTE = 7, VERB_FORK = 8 };
enum { VERB_LISTEN = 9, VERB_LAST };

/* Field tags of a request. Each field is a u16 tag, a u32 length and that many bytes. */
enum {
	TAG_FLAGS = 1, /* u32, FLAG_* */
	TAG_DIR,       /* base: path */
	TAG_LINK,      /* base: path \0 target */
	TAG_FILE,      /* base: path \0 contents */
	TAG_COPY,      /* base: path \0 source */
	TAG_BIND,      /* base: path \0 source */
	TAG_NODE,      /* base: path \0 source (a character device) */
	TAG_TMPFS,     /* slot: mount data of the workspace; run: mount data of /tmp */
	TAG_ID_OUT,    /* slot: u32 host uid and gid of the job */
	TAG_ARG,       /* run: one argument, NUL-terminated, in order */
	TAG_ENV,       /* run: one NAME=value, NUL-terminated, in order */
	TAG_RLIMIT,    /* run: u32 resource, u64 limit */
	TAG_FILTER,    /* run: struct sock_filter[] */
	TAG_CGROUPS,   /* run: u32 number of v1 tasks descriptors, or of one v2 directory */
	TAG_LANDLOCK,  /* run: u32 LL_* rights, path, NUL-terminated */
	TAG_DENIED,    /* run: u32 how many denied calls end the run */
	TAG_LISTEN,    /* listen: u32 IPv4 address, u32 port; run: the same, to be connected to */
	TAG_HOSTS,     /* run: what /etc/hosts holds, NUL-terminated */
	TAG_LAST
};

enum {
	FLAG_NESTED = 1,    /* an ordinary user: live inside the base's user namespace */
	FLAG_CGROUP2 = 2,   /* the cgroup descriptor is a v2 directory */
	FLAG_NO_LANDLOCK = 4,
	FLAG_NO_FILTER = 8,
	FLAG_NO_NETNS = 16,
	FLAG_AUDIT = 32,    /* hand over what the audit library recorded */
	FLAG_OWN_DEVICES = 64, /* /dev has nodes of its own and not the host's */
	FLAG_FORKED = 1 << 30, /* never sent: this process comes from a zygote, which is in the base's user namespace */
};

/* Descriptors of VERB_RUN. */
enum { FD_MNT = FD_EXTRA, FD_USER, FD_NET, FD_BASE_USER, FD_CGROUP };

/* READY also answers a ping, STARTED a go. */
enum { REPLY_READY = 1, REPLY_FAILED = 2, REPLY_STARTED = 3, REPLY_EXITED = 4 };

#define DENIED_NUMBERS 512
#define DENIED_OTHER_ABI (DENIED_NUMBERS - 1) /* in place of a number that means another call */
#define LOCKS_MAX 10000 /* file locks of a run */

struct reply {
	uint32_t magic, kind;
	int32_t err;          /* errno of a failed step */
	int32_t status;       /* wait status of the program */
	uint64_t wall_ns;     /* exec to exit */
	uint64_t cpu_ns;      /* user and system time of the program and what it waited for */
	uint64_t max_rss;     /* bytes */
	uint64_t denied_total;
	uint64_t denied[DENIED_NUMBERS / 64];
	uint32_t landlock;    /* ABI */
	uint32_t ended;       /* 0 by itself, 1 for too many denied calls, 2 by the supervisor, 3 for too many locks */
	uint64_t tmp_bytes;   /* what /tmp holds at the end */
	uint64_t tmp_full;    /* 1 where it has no room left */
	char step[64];        /* name of the failed step */
	char detail[64];      /* the path or value it failed on */
};

#define REPLY_FDS 64 /* in one reply */
#define MAX_REQUEST (192 * 1024)
#define MAX_ITEMS 512

struct item {
	uint16_t tag;
	uint32_t len;
	const char *data;
	const char *second; /* after the first NUL, where the tag has two parts */
	uint32_t second_len;
};

struct request {
	uint32_t verb, flags, id, cgroups, denied_max;
	const char *tmpfs, *hosts;
	struct item items[MAX_ITEMS];
	uint32_t n;
	char *argv[MAX_ITEMS], *envp[MAX_ITEMS];
	uint32_t argc, envc;
	struct item filter;
};

/* wire.c */
/* One message into the given buffer of MAX_REQUEST bytes: 1, 0 at the end of the conversation, or -1. */
int receive(struct request *r, char *buf);
int decode(struct request *r, char *buf, size_t len);
void reply(struct reply *r, const int *fds, int nfds);
/* Reports the failed step with errno and ends the process. */
_Noreturn void die(const char *step, const char *detail);

/* The verbs. */
_Noreturn void base(struct request *r);
_Noreturn void slot(struct request *r);
_Noreturn void run(struct request *r);
_Noreturn void start_zygote(struct request *r);
_Noreturn void listen_for(struct request *r);
/* check.c: user, pid, mnt, net, ipc, uts, cgroup, in this order in the reply's denied. */
enum { NAMESPACES = 7 };
_Noreturn void check(struct request *r);

/* devices.c: both with the root to be as working directory. */
enum { DEVICES = 5 };
struct device { const char *name; unsigned minor; };
extern const struct device devices[DEVICES];
void link_devices(const char *step);
void make_devices(const char *step);

/* hosts.c */
void hosts(const char *text);

/* user.c: becomes the program. Reports into shared memory, because its parent waits as after vfork. */
struct shared {
	volatile int err;
	volatile int listener; /* seccomp notification descriptor in the shared table, or -1 */
	volatile uint64_t started_ns;
	volatile uint32_t landlock;
	char step[64], detail[64];
};
/* Everything but the exec: who returns from it has no privilege left, and a listener that its parent needs. */
void lock_down(struct request *r, struct shared *s, int cgroup_fd0);
/* Nothing above standard error, and the limit of descriptors. */
void keep_stdio(struct request *r, unsigned flags);
_Noreturn void become_user(struct request *r, struct shared *s, int cgroup_fd0);

/* run.c: the two halves of VERB_RUN, before and after the program was started. */
struct shared *become_init(struct request *r);
_Noreturn void attend(struct request *r, struct shared *s, pid_t program);

/* landlock.c: returns the ABI, or -1 with errno and *step. */
int landlock(struct request *r, const char **detail);

/* notify.c */
struct denials {
	uint64_t total;
	uint64_t numbers[DENIED_NUMBERS / 64];
};
void notify_once(int listener, struct denials *d);

/* flock.c */
struct seccomp_notif;
void answer(int listener, uint64_t id, int error);
int lock_asked(int listener, const struct seccomp_notif *req);
int retry_locks(int listener);

/* locks.c */
/* anonymous is any descriptor without a file, such as a signalfd; own_devices as FLAG_OWN_DEVICES says. Tells how much
 * processor time it took. */
int too_many_locks(int anonymous, int own_devices, uint64_t *took_ns);

uint64_t now_ns(void);
int drop_capabilities(void);
/* Enters the job's user namespace as its one identity; the name of what failed, or NULL. */
const char *become_job(void);

#endif
