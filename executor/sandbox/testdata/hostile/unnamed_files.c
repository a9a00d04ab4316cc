// class: runtime_error
// signal: SIGTERM
// limits: {"disk_bytes": 4194304}
#include "hostile.h"
int main(void)
{
	static char page[65536];
	int fd = open(".", O_TMPFILE | O_RDWR, 0600);
	while (write(fd, page, sizeof page) > 0) {}
	if (errno != ENOSPC) return 2;
	raise(SIGTERM); /* while the file is held; it is gone with its program, and the disk is empty */
	return 1;
}
