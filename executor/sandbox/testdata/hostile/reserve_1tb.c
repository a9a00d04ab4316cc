// class: out_of_memory
// limits: {"memory_bytes": 67108864}
#include "hostile.h"
int main(void)
{
	char *p = mmap(NULL, 1ul << 40, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) p = mmap(NULL, 1ul << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	for (size_t at = 0; at < 1ul << 30; at += 4096) p[at] = 1;
	return 0;
}
