// class: ok
// stdout: all held
// Where the processor or the kernel knows no int 0x80, it faults.
#include "hostile.h"
#include <setjmp.h>
#ifdef __x86_64__
static sigjmp_buf back;
static void fault(int s) { siglongjmp(back, s); }
int main(void)
{
	signal(SIGSEGV, fault);
	if (sigsetjmp(back, 1) == 0) {
		long r;
		__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory"); /* getpid of that ABI */
		errno = (int)-r;
		fact("int 0x80", r == -ENOSYS);
	}
	refused(ENOSYS, syscall(0x40000000 | SYS_getpid));
	refused(ENOSYS, syscall(0x40000000 | 512, SIGUSR1, 0, 0, 8));
	refused(ENOSYS, syscall(0x40000000 | SYS_socket, 2, 1, 0));
	return verdict();
}
#else
int main(void) { return verdict(); }
#endif
