// class: ok
// stdout: all held
// Whoever can lock /dev/null tells it to all that have the same inode, so it is none of the host's.
#include "hostile.h"
int main(void)
{
	static const char *devices[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom" };
	struct stat dir, st;
	fact("/dev", stat("/dev", &dir) == 0);
	for (unsigned i = 0; i < sizeof devices / sizeof *devices; i++) {
		struct flock l = { .l_type = F_WRLCK };
		int fd = open(devices[i], O_RDWR);
		fact(devices[i], fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_dev == dir.st_dev);
		fact("locked", fcntl(fd, F_SETLK, &l) == 0);
		fails(fchmod(fd, 0600));
	}
	fails(mknod("/dev/other", S_IFCHR | 0666, 0x103));
	fails(open("/dev/other", O_WRONLY | O_CREAT, 0600));
	fails(symlink("/etc", "/dev/other"));
	return verdict();
}
