/* For the programs in C: they say what was not refused, or that all was. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <grp.h>
#include <unistd.h>

static int faults;

static void fact(const char *what, int holds)
{
	if (holds) return;
	faults++;
	printf("%s: %s; ", what, strerror(errno));
}

/* The call returned -1 with this error. */
#define refused(error, ...) do { errno = 0; long got = (long)(__VA_ARGS__); fact(#__VA_ARGS__, got == -1 && errno == (error)); } while (0)
/* The call returned -1, whatever the error. */
#define fails(...) do { errno = 0; long got = (long)(__VA_ARGS__); fact(#__VA_ARGS__, got == -1); } while (0)

static int verdict(void)
{
	puts(faults ? "" : "all held");
	return 0;
}
