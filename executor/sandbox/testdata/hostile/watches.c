// class: ok
// stdout: all held
// Watching a file that runs share would tell what the others use.
#include "hostile.h"
int main(void)
{
	refused(ENOSYS, syscall(SYS_inotify_init1, 0));
	refused(EPERM, syscall(SYS_fanotify_init, 0, 0));
	int dir = open("/usr/bin", O_RDONLY | O_DIRECTORY), lib = open("/usr/bin/python3", O_RDONLY);
	refused(EPERM, fcntl(dir, F_NOTIFY, 0x8000003f));
	refused(EPERM, fcntl(lib, F_SETLEASE, F_RDLCK));
	refused(EPERM, fcntl(open("own", O_RDONLY | O_CREAT, 0600), F_SETLEASE, F_RDLCK));
	return verdict();
}
