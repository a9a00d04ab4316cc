// class: ok
// stdout: all held
#include "hostile.h"
int main(void)
{
	int chain[1100], n = 0, depth = 0;
	while (n < 1100 && (chain[n] = epoll_create1(0)) >= 0) n++;
	fact("descriptors are bounded", n < 1024);
	struct epoll_event e = { .events = EPOLLIN };
	for (int i = 1; i < n; i++)
		if (epoll_ctl(chain[i], EPOLL_CTL_ADD, chain[i - 1], &e) == 0) depth++;
	fact("depth is bounded", depth < n - 1);
	fails(epoll_ctl(chain[0], EPOLL_CTL_ADD, chain[0], &e));
	for (int i = 0; i < n; i++) close(chain[i]);
	n = 0;
	while (n < 2000 && eventfd(0, 0) >= 0) n++;
	while (n < 4000 && timerfd_create(CLOCK_MONOTONIC, 0) >= 0) n++;
	fact("descriptors are bounded", n < 1024);
	return verdict();
}
