// class: ok
// stdout: all held
#include "hostile.h"
int main(void)
{
	int rw = PROT_READ | PROT_WRITE, anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
	fails(mmap(NULL, 4096, rw, anonymous | MAP_FIXED, -1, 0));
	refused(EPERM, mmap(NULL, 2 << 20, rw, anonymous | MAP_HUGETLB, -1, 0));
	refused(EPERM, syscall(SYS_memfd_create, "huge", 4));
	char *p = mmap(NULL, 1 << 20, rw, anonymous, -1, 0);
	fails(mlock(p, 1 << 20));
	fails(mlockall(MCL_CURRENT | MCL_FUTURE));
	fails(mmap(NULL, 1 << 20, rw, anonymous | MAP_LOCKED, -1, 0));
	fails(mremap(p, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, NULL));
	/* The libraries that runs share cannot be written through a mapping. */
	int lib = open("/usr/bin/python3", O_RDONLY);
	fact("open", lib >= 0);
	fails(mmap(NULL, 4096, rw, MAP_SHARED, lib, 0));
	char *shared = mmap(NULL, 4096, PROT_READ, MAP_SHARED, lib, 0);
	fact("map", shared != MAP_FAILED);
	fails(mprotect(shared, 4096, rw));
	fails(madvise(shared, 4096, MADV_REMOVE));
	fails(madvise(shared, 4096, 100)); /* MADV_HWPOISON */
	fails(madvise(shared, 4096, 101));
	/* Address space is not memory. */
	char *wide = mmap(NULL, 1ul << 40, PROT_NONE, anonymous | MAP_NORESERVE, -1, 0);
	fact("reserve", wide != MAP_FAILED);
	return verdict();
}
