// class: ok
// stdout: all held
// limits: {"wall_ms": 20000, "memory_bytes": 268435456}
// What PID 1 reads of a descriptor is as long as its holder makes it, and nobody's group is charged for the reading.
#include "hostile.h"
static unsigned long ticks(const char *stat)
{
	char text[1024];
	unsigned long user = 0, system = 0;
	FILE *f = fopen(stat, "r");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
	text[n] = 0;
	if (f) fclose(f);
	char *at = strrchr(text, ')');
	fact("PID 1 has its times", at && sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) == 2);
	return user + system;
}
int main(void)
{
	int own[450];
	for (int i = 0; i < 450; i++) own[i] = eventfd(0, 0);
	for (int n = 0; n < 450; n++) {
		int e = epoll_create1(0);
		struct epoll_event ev = { .events = EPOLLIN };
		for (int i = 0; i < 450; i++)
			if (epoll_ctl(e, EPOLL_CTL_ADD, own[i], &ev) < 0) fact("an entry", 0);
	}
	for (int i = 0; i < 8; i++)
		if (fork() == 0) {
			pause();
			_exit(0);
		}
	unsigned long before = ticks("/proc/1/stat");
	struct timespec from, now, wait = { 0, 100000000 };
	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		nanosleep(&wait, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - from.tv_sec < 4);
	fact("PID 1 works for no one", ticks("/proc/1/stat") - before < 100); /* of 400 */
	return verdict();
}
