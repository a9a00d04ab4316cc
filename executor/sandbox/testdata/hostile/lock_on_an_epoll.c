// class: out_of_memory
// detail: file locks
// Where no file is there is one inode for all runs of the host: locks there would be told to others, or be too many.
#include "hostile.h"
int main(void)
{
	int e = epoll_create1(0);
	struct flock l = { .l_type = F_WRLCK, .l_start = 4711, .l_len = 1 };
	if (fcntl(e, F_SETLK, &l) < 0) return 1;
	while (1) pause();
}
