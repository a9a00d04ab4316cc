// class: ok
// stdout: all held
// Where no file is there is one inode for all runs of the host: locks there would be told to others, or be too many.
#include "hostile.h"
#include <sys/signalfd.h>
int main(void)
{
	sigset_t none;
	sigemptyset(&none);
	int fds[] = { epoll_create1(0), eventfd(0, 0), timerfd_create(CLOCK_MONOTONIC, 0), signalfd(-1, &none, 0) };
	for (unsigned i = 0; i < sizeof fds / sizeof *fds; i++)
		for (int type = F_RDLCK; type <= F_WRLCK; type++) {
			struct flock l = { .l_type = type, .l_start = 4711, .l_len = 1 };
			refused(EAGAIN, fcntl(fds[i], F_SETLK, &l));
		}
	return verdict();
}
