// class: out_of_memory
// limits: {"memory_bytes": 67108864}
#include "hostile.h"
int main(void)
{
	if (fork() == 0) {
		if (fork() == 0)
			for (size_t n = 0;; n += 1 << 20) memset(malloc(1 << 20), 1, 1 << 20);
		wait(NULL);
		_exit(0);
	}
	wait(NULL);
	return 0;
}
