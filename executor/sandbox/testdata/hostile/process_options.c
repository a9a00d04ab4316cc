// class: ok
// stdout: all held
// denied: prctl seccomp
#include "hostile.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
int main(void)
{
	struct sock_filter let[] = { BPF_STMT(BPF_RET | BPF_K, 0x7fff0000) }, trace[] = { BPF_STMT(BPF_RET | BPF_K, 0x7ff00000) }, notify[] = { BPF_STMT(BPF_RET | BPF_K, 0x7fc00000) };
	struct sock_filter *all[] = { let, trace, notify };
	for (int i = 0; i < 3; i++) {
		struct sock_fprog p = { 1, all[i] };
		refused(EPERM, prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p));
		refused(EPERM, syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p));
		refused(EPERM, syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 8, &p)); /* a listener */
		refused(EPERM, syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 2, &p)); /* the audit log */
	}
	refused(EPERM, prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
	refused(EPERM, prctl(PR_SET_MM, 6, 0x10000, 0, 0));
	refused(EPERM, prctl(PR_SET_PTRACER, -1, 0, 0, 0));
	refused(EPERM, prctl(59, 1, 0, 0, 0)); /* dispatch of calls to the program, before any filter */
	refused(EPERM, prctl(62, 1, 0, 0, 0)); /* core scheduling */
	refused(EPERM, prctl(67, 1, 0, 0, 0)); /* merging of all memory */
	refused(EPERM, prctl(52, 0, 0, 0, 0)); /* speculation */
	refused(EPERM, prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0));
	refused(EPERM, prctl(PR_SET_SECUREBITS, 0, 0, 0, 0));
	refused(EPERM, prctl(PR_CAP_AMBIENT, 2, 0, 0, 0));
	refused(EPERM, prctl(PR_MCE_KILL, 0, 0, 0, 0));
	refused(EPERM, prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0));
	fact("no_new_privs", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	/* It says so and does not: what hides from PID 1 could hold locks without number. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	fact("dumpable", prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1);
	fact("subreaper", prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
	refused(EPERM, ioctl(3, SECCOMP_IOCTL_NOTIF_RECV, NULL));
	return verdict();
}
