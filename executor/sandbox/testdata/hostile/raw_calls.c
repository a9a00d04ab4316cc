// class: ok
// stdout: all held
// denied: io_uring_setup keyctl add_key request_key bpf userfaultfd perf_event_open ptrace process_vm_readv mount setns unshare pivot_root kexec_load init_module personality kcmp pidfd_getfd vmsplice cachestat
#include "hostile.h"
int main(void)
{
	char page[4096] = { 0 };
	struct iovec v = { page, sizeof page };
	refused(EPERM, syscall(SYS_io_uring_setup, 8, page));
	refused(EPERM, syscall(SYS_io_uring_enter, 0, 1, 1, 0, 0, 0));
	refused(EPERM, syscall(SYS_io_uring_register, 0, 0, 0, 0));
	refused(EPERM, syscall(SYS_keyctl, 0, -3, 1));
	refused(EPERM, syscall(SYS_add_key, "user", "a", "b", 1, -3));
	refused(EPERM, syscall(SYS_request_key, "user", "a", 0, -3));
	refused(EPERM, syscall(SYS_bpf, 5, page, 64));
	refused(EPERM, syscall(SYS_userfaultfd, 1));
	refused(EPERM, syscall(SYS_perf_event_open, page, 0, -1, -1, 0));
	refused(EPERM, syscall(SYS_ptrace, 0, 0, 0, 0));
	refused(EPERM, syscall(SYS_process_vm_readv, 1, &v, 1, &v, 1, 0));
	refused(EPERM, syscall(SYS_process_vm_writev, 1, &v, 1, &v, 1, 0));
	refused(EPERM, syscall(SYS_process_madvise, 0, &v, 1, 4, 0));
	refused(EPERM, syscall(SYS_process_mrelease, 0, 0));
	refused(EPERM, syscall(SYS_mount, "none", "/tmp", "tmpfs", 0, 0));
	refused(EPERM, syscall(SYS_umount2, "/proc", 2));
	refused(EPERM, syscall(SYS_setns, 0, 0));
	refused(EPERM, syscall(SYS_unshare, CLONE_NEWUSER));
	refused(EPERM, syscall(SYS_pivot_root, ".", "."));
	refused(EPERM, syscall(SYS_chroot, "."));
	refused(EPERM, syscall(SYS_open_by_handle_at, 0, page, 0));
	refused(EPERM, syscall(SYS_name_to_handle_at, AT_FDCWD, ".", page, page, 0));
	refused(EPERM, syscall(SYS_kexec_load, 0, 0, 0, 0));
	refused(EPERM, syscall(SYS_kexec_file_load, 0, 0, 0, 0, 0));
	refused(EPERM, syscall(SYS_init_module, page, 1, ""));
	refused(EPERM, syscall(SYS_finit_module, 0, "", 0));
	refused(EPERM, syscall(SYS_personality, 0x0040000)); /* ADDR_NO_RANDOMIZE */
	refused(EPERM, syscall(SYS_personality, 0xffffffff));
	refused(EPERM, syscall(SYS_kcmp, 1, getpid(), 0, 0, 0));
	refused(EPERM, syscall(SYS_pidfd_getfd, 0, 0, 0));
	refused(EPERM, syscall(SYS_vmsplice, 1, &v, 1, 0));
	refused(EPERM, syscall(451, 0, page, page, 0)); /* cachestat */
	refused(EPERM, syscall(SYS_migrate_pages, 0, 1, page, page));
	refused(EPERM, syscall(SYS_move_pages, 0, 0, 0, 0, 0, 0));
	refused(EPERM, syscall(SYS_acct, "/tmp/a"));
	refused(EPERM, syscall(SYS_quotactl, 0, 0, 0, 0));
	refused(EPERM, syscall(SYS_swapon, "/tmp/a", 0));
	refused(EPERM, syscall(SYS_syslog, 3, page, 100));
	refused(EPERM, syscall(SYS_sethostname, "a", 1));
	refused(EPERM, syscall(SYS_landlock_create_ruleset, 0, 0, 1));
	refused(ENOSYS, syscall(SYS_clone3, page, 88));
	refused(ENOSYS, syscall(9999));
#ifdef __x86_64__
	refused(EPERM, syscall(SYS_modify_ldt, 1, page, 16));
	refused(EPERM, syscall(SYS_arch_prctl, 0x1012, 0)); /* faults of cpuid */
	refused(EPERM, syscall(SYS_arch_prctl, 0x2001, 0)); /* mapping a vdso */
	refused(EPERM, syscall(SYS_iopl, 3));
	refused(EPERM, syscall(SYS_ioperm, 0, 1, 1));
#endif
	return verdict();
}
