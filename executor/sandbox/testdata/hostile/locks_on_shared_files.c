// class: ok
// stdout: all held
// denied: flock fcntl
#include "hostile.h"
int main(void)
{
	int lib = open("/usr/bin/python3", O_RDONLY), dir = open("/usr/bin", O_RDONLY), null = open("/dev/null", O_RDWR), own = open("own", O_RDWR | O_CREAT, 0600);
	struct flock l = { .l_type = F_WRLCK, .l_len = 1 };
	refused(EPERM, flock(lib, LOCK_SH | LOCK_NB));
	refused(EPERM, flock(lib, LOCK_EX));
	refused(EPERM, flock(dir, LOCK_EX));
	refused(EPERM, flock(null, LOCK_EX));
	refused(EPERM, fcntl(lib, F_GETLK, &l));
	refused(EINVAL, fcntl(own, F_OFD_SETLK, &l));
	refused(EINVAL, fcntl(own, F_OFD_GETLK, &l));
	fact("own", flock(own, LOCK_EX) == 0 && fcntl(own, F_SETLK, &l) == 0 && fcntl(own, F_GETLK, &l) == 0 && l.l_type == F_UNLCK);
	refused(EFAULT, fcntl(own, F_GETLK, (void *)8));
	refused(EBADF, flock(777, LOCK_EX));
	refused(EINVAL, flock(own, 77));
	return verdict();
}
