// class: ok
// stdout: all held
// denied: socket socketpair bind connect listen
#include "hostile.h"
#include <linux/filter.h>
#include <sys/un.h>
int main(void)
{
	for (int family = 0; family < 50; family++)
		for (int kind = 1; kind <= 6; kind++) {
			refused(EPERM, socket(family, kind, 0));
			if (family != AF_UNIX) refused(EPERM, socketpair(family, kind, 0, (int[2]){ 0 }));
		}
	refused(EPERM, socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
	refused(EPERM, socket(AF_ALG, SOCK_SEQPACKET, 0));
	refused(EPERM, syscall(SYS_socket, (1ul << 32) | AF_INET, SOCK_STREAM, 0));
	int pair[2];
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	struct sockaddr_un name = { .sun_family = AF_UNIX, .sun_path = "\0abstract" };
	refused(EPERM, bind(pair[0], (struct sockaddr *)&name, sizeof name));
	refused(EPERM, connect(pair[0], (struct sockaddr *)&name, sizeof name));
	refused(EPERM, listen(pair[0], 1));
	fails(sendto(pair[0], "x", 1, 0, (struct sockaddr *)&name, sizeof name));
	struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, 0) };
	struct sock_fprog f = { 1, all };
	refused(EPERM, setsockopt(pair[0], SOL_SOCKET, SO_ATTACH_FILTER, &f, sizeof f));
	refused(EPERM, setsockopt(pair[0], SOL_SOCKET, SO_ATTACH_BPF, &pair[1], sizeof pair[1]));
	return verdict();
}
