// class: ok
// stdout: all held
#include "hostile.h"
int main(void)
{
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	int queued = 0, timers = 0;
	while (queued < 100000 && sigqueue(getpid(), SIGRTMIN, (union sigval){ 0 }) == 0) queued++;
	fact("queued signals are bounded", queued < 2000);
	timer_t t;
	struct sigevent e = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1 };
	while (timers < 100000 && timer_create(CLOCK_MONOTONIC, &e, &t) == 0) timers++;
	fact("timers are bounded", timers < 2000);
	for (int i = 0; i < 100000; i++) kill(1, SIGCHLD), sigqueue(1, SIGRTMIN, (union sigval){ 0 });
	refused(EPERM, socket(AF_INET, SOCK_STREAM, 0));
	return verdict();
}
