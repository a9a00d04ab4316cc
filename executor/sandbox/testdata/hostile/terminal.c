// class: ok
// stdout: all held
// denied: ioctl
#include "hostile.h"
int main(void)
{
	char c = 'x', linux_word = 3;
	int n = 0;
	for (int fd = 0; fd < 3; fd++) {
		refused(EPERM, ioctl(fd, TIOCSTI, &c));
		refused(EPERM, ioctl(fd, TIOCLINUX, &linux_word));
		refused(EPERM, ioctl(fd, TIOCSCTTY, 1));
		refused(EPERM, ioctl(fd, TIOCNOTTY, 0));
		refused(EPERM, ioctl(fd, TIOCSETD, &n));
		refused(EPERM, ioctl(fd, TIOCCONS, 0));
		refused(EPERM, ioctl(fd, TIOCSPGRP, &n));
		refused(EPERM, ioctl(fd, (1ul << 32) | TIOCSTI, &c)); /* the kernel looks at 32 bits */
		fact("no terminal", !isatty(fd));
	}
	fails(open("/dev/tty", O_RDWR));
	fails(open("/dev/ptmx", O_RDWR));
	fails(open("/dev/pts/0", O_RDWR));
	fails(open("/dev/console", O_RDWR));
	return verdict();
}
