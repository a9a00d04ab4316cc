// class: ok
// stdout: all held
#include "hostile.h"
#include <sys/xattr.h>
int main(void)
{
	int fd = open("file", O_RDWR | O_CREAT, 0600);
	char none[16] = { 2 };
	refused(EPERM, fsetxattr(fd, "user.a", "b", 1, 0));
	refused(EPERM, fsetxattr(fd, "trusted.a", "b", 1, 0));
	refused(EPERM, fsetxattr(fd, "system.posix_acl_access", none, 4, 0));
	refused(EPERM, fremovexattr(fd, "user.a"));
	unsigned long flags = 0x10; /* immutable */
	fails(ioctl(fd, 0x40086602, &flags));
	fails(mknod("device", S_IFCHR | 0600, 0x101));
	fails(mknod("device", S_IFBLK | 0600, 0x801));
	fails(link("/usr/bin/python3", "hard"));
	fails(link("/etc/passwd", "hard"));
	return verdict();
}
