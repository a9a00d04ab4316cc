// class: process_limit wall_timeout cpu_timeout
// limits: {"wall_ms": 1500}
#include "hostile.h"
int main(void)
{
	for (int s = 1; s < 65; s++) signal(s, SIG_IGN);
	for (;;) {
		syscall(SYS_fork);
		syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
		syscall(SYS_vfork);
	}
}
