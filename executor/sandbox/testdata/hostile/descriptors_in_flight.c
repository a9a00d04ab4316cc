// class: ok
// stdout: bounded
// Sockets that hold each other, with nobody left to close them.
#include "hostile.h"
static int send_fd(int by, int fd)
{
	char control[CMSG_SPACE(sizeof fd)] = { 0 }, byte = 0;
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	return (int)sendmsg(by, &m, MSG_DONTWAIT);
}
int main(void)
{
	int sent = 0, one[2], other[2];
	for (int round = 0; round < 5000; round++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, one) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, other) < 0) break;
		if (send_fd(one[0], other[1]) < 0 || send_fd(other[0], one[1]) < 0 || send_fd(one[0], one[0]) < 0) break;
		sent += 3;
		for (int i = 0; i < 2; i++) close(one[i]), close(other[i]);
	}
	puts("bounded");
	return 0;
}
