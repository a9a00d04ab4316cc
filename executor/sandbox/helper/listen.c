/*
 * VERB_LISTEN: makes, in a slot's network namespace, the sockets that a run's hosts are reached by, and
 * hands them back. A socket stays in the namespace it was made in, so their holder accepts from outside
 * what the program connects inside. Nothing else is in there: no route, no interface but loopback.
 */
#include "helper.h"
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { FD_SLOT_NET = FD_EXTRA, FD_SLOT_OWNER, BACKLOG = 64 };

/* A new namespace's loopback is down, and without it nothing reaches 127.0.0.0/8. */
static void loopback_up(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo) < 0) die("listen.loopback", NULL);
	close(fd);
}

static int listener(struct item *it)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	uint32_t address, port, one = 1;
	memcpy(&address, it->data, 4);
	memcpy(&port, it->data + 4, 4);
	at.sin_addr.s_addr = htonl(address);
	at.sin_port = htons((uint16_t)port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) die("listen.socket", NULL);
	/* Connections of the workspace's last run may still wait for late packets. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0) die("listen.reuse", NULL);
	if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0) die("listen.bind", NULL);
	if (listen(fd, BACKLOG) < 0) die("listen.listen", NULL);
	return fd;
}

void listen_for(struct request *r)
{
	int fds[REPLY_FDS], n = 0;
	if ((r->flags & FLAG_NESTED) && setns(FD_SLOT_OWNER, CLONE_NEWUSER) < 0) die("listen.enter_user", NULL);
	if (setns(FD_SLOT_NET, CLONE_NEWNET) < 0) die("listen.enter_net", NULL);
	loopback_up();
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->items[i].tag != TAG_LISTEN) continue;
		errno = E2BIG;
		if (n == REPLY_FDS) die("listen.request", NULL);
		fds[n++] = listener(&r->items[i]);
	}
	struct reply ok = { .kind = REPLY_READY };
	reply(&ok, fds, n);
	_exit(0);
}
