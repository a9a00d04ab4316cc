// class: ok
// stdout: all held
// The pages of the host's files are shared: what is in memory, and in memory once, is what others have read.
#include "hostile.h"
int main(void)
{
	static char buffer[1 << 16] __attribute__((aligned(4096)));
	struct iovec v = { buffer, 4096 };
	int lib = open("/usr/bin/python3", O_RDONLY);
	struct stat st;
	fstat(lib, &st);
	size_t pages = (size_t)(st.st_size + 4095) / 4096;
	char *map = mmap(NULL, pages * 4096, PROT_READ, MAP_PRIVATE, lib, 0);
	unsigned char *in = malloc(pages);
	fact("mincore", mincore(map, pages * 4096, in) == 0);
	for (size_t i = 0; i < pages; i++)
		if (!(in[i] & 1)) { fact("mincore says the same of every page", 0); break; }
	refused(EOPNOTSUPP, syscall(SYS_preadv2, lib, &v, 1, 0, 0, 8)); /* RWF_NOWAIT */
	refused(EPERM, syscall(SYS_preadv2, lib, &v, 1, 0, 0, 0x80)); /* RWF_DONTCACHE */
	fact("preadv2", preadv2(lib, &v, 1, 0, 0) == 4096);
	fails(open("/usr/bin/python3", O_RDONLY | O_DIRECT));
	fails(fcntl(lib, F_SETFL, O_DIRECT));
	refused(ENOSYS, syscall(437, AT_FDCWD, "/usr/bin/python3", buffer, 24)); /* openat2 */
	refused(EPERM, syscall(451, lib, buffer, buffer, 0)); /* cachestat */
	fact("advice", posix_fadvise(lib, 0, 0, POSIX_FADV_DONTNEED) == 0 && posix_fadvise(lib, 0, 0, POSIX_FADV_SEQUENTIAL) == 0);
	fact("nothing is written out", fsync(lib) == 0 && fdatasync(1) == 0 && msync(map, 4096, MS_SYNC) == 0);
	refused(ENOSYS, syncfs(lib));
	refused(EINVAL, madvise(buffer, sizeof buffer, MADV_MERGEABLE));
	refused(EINVAL, madvise(map, 4096, 25)); /* MADV_COLLAPSE */
	return verdict();
}
