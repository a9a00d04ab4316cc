// class: out_of_memory
// detail: file locks
// The thread has descriptors of its own, and its process none.
#include "hostile.h"
static void *flood(void *none)
{
	if (syscall(SYS_close_range, 3, ~0u, 2) < 0) exit(1);
	int fd = open("locked", O_RDWR | O_CREAT, 0600);
	for (off_t at = 1l << 40;; at -= 2) {
		struct flock l = { .l_type = F_WRLCK, .l_start = at, .l_len = 1 };
		if (fcntl(fd, F_SETLK, &l) < 0) exit(1);
	}
	return none;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, flood, NULL);
	syscall(SYS_exit, 0); /* the first thread alone */
}
