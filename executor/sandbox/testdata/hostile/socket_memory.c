// class: out_of_memory
// limits: {"memory_bytes": 67108864}
#include "hostile.h"
int main(void)
{
	static char page[65536];
	int pair[2];
	while (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) {
		int wide = 1 << 24;
		setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &wide, sizeof wide);
		while (send(pair[0], page, sizeof page, MSG_DONTWAIT) > 0) {}
	}
	return 0;
}
