// class: ok
// stdout: all held
// denied: shmget semget msgget mq_open
#include "hostile.h"
int main(void)
{
	refused(EPERM, syscall(SYS_shmget, 0x4347, 4096, 01600));
	refused(EPERM, syscall(SYS_semget, 0x4347, 1, 01600));
	refused(EPERM, syscall(SYS_msgget, 0x4347, 01600));
	refused(EPERM, syscall(SYS_mq_open, "left", O_RDWR | O_CREAT, 0600, NULL));
	int fd = open("/dev/shm/left_in_shared_memory", O_RDWR | O_CREAT, 0600); /* the run's own, gone with it */
	fact("shm", fd >= 0 && ftruncate(fd, 1 << 20) == 0);
	return verdict();
}
