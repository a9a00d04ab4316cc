// class: out_of_memory
// limits: {"memory_bytes": 33554432}
#include "hostile.h"
int main(void)
{
	static char page[65536];
	int ends[2], other[2];
	while (pipe2(ends, O_NONBLOCK) == 0) {
		fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
		while (write(ends[1], page, sizeof page) > 0) {}
		if (pipe2(other, O_NONBLOCK) == 0) tee(ends[0], other[1], 1 << 20, SPLICE_F_NONBLOCK);
	}
	return 0;
}
