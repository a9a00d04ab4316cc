// class: out_of_memory
// detail: file locks
#include "hostile.h"
int main(void)
{
	int fd = open("locked", O_RDWR | O_CREAT, 0600);
	for (off_t at = 1l << 40;; at -= 2) {
		struct flock l = { .l_type = F_WRLCK, .l_start = at, .l_len = 1 };
		if (fcntl(fd, F_SETLK, &l) < 0) return 1;
	}
}
