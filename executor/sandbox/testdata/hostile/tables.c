// class: out_of_memory process_limit
// limits: {"memory_bytes": 67108864}
// Page tables, a page touched in every 2 MB, are the kernel's memory on the run's account.
#include "hostile.h"
int main(void)
{
	char *p = mmap(NULL, 1ul << 44, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) return 1;
	madvise(p, 1ul << 44, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < 1ul << 44; at += 1 << 21) *(volatile char *)(p + at);
	return 0;
}
