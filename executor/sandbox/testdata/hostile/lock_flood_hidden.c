// class: out_of_memory
// detail: file locks
// A program that may be run and not read hides its descriptors.
#include "hostile.h"
int main(int argc, char **argv)
{
	if (argc == 1) {
		char *args[] = { "program", "again", NULL };
		chmod("/proc/self/exe", 0111);
		chmod("program", 0111);
		execv("program", args);
		return 2;
	}
	int fd = open("locked", O_RDWR | O_CREAT, 0600);
	for (off_t at = 1l << 40;; at -= 2) {
		struct flock l = { .l_type = F_WRLCK, .l_start = at, .l_len = 1 };
		if (fcntl(fd, F_SETLK, &l) < 0) return 1;
	}
}
