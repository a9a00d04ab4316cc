// class: ok
// stdout: parent
// skipped: fifo
// Names change into links, FIFOs and directories up to the end, which comes while they change.
#include "hostile.h"
static void storm(int by)
{
	char name[16], other[16];
	for (unsigned i = 0;; i++) {
		snprintf(name, sizeof name, "n%u", i % 5), snprintf(other, sizeof other, "n%u", (i + (unsigned)by) % 5);
		switch (i % 7) {
		case 0: symlink("/etc/passwd", name); break;
		case 1: mkfifo(name, 0600); break;
		case 2: mkdir(name, 0700); break;
		case 3: rename(name, other); break;
		case 4: syscall(SYS_renameat2, AT_FDCWD, name, AT_FDCWD, other, 2); break; /* exchange */
		case 5: link("program", name); break;
		case 6: unlink(name), rmdir(other); break;
		}
	}
}
int main(void)
{
	mkfifo("fifo", 0600);
	for (int i = 1; i < 9; i++)
		if (fork() == 0) storm(i);
	usleep(100000);
	puts("parent");
	return 0;
}
