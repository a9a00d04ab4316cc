// class: runtime_error
// signal: SIGABRT
#include "hostile.h"
int main(void)
{
	struct rlimit wide = { RLIM_INFINITY, RLIM_INFINITY };
	if (setrlimit(RLIMIT_CORE, &wide) == 0 || open("/proc/self/coredump_filter", O_WRONLY) >= 0) return 3;
	abort();
}
