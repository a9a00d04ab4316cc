# class: ok
# denied: ptrace unshare setns mount umount2 pivot_root chroot bpf userfaultfd perf_event_open keyctl add_key request_key process_vm_readv process_vm_writev io_uring_setup open_by_handle_at name_to_handle_at kexec_load init_module finit_module reboot swapon sethostname settimeofday clock_settime open_tree move_mount fsopen fsmount mount_setattr pidfd_getfd personality acct quotactl iopl ioperm shmget semget msgget mq_open socket connect bind listen accept fanotify_init syslog vhangup seccomp landlock_create_ruleset kcmp lookup_dcookie move_pages migrate_pages capset setgroups memfd_secret sysfs ustat modify_ldt
# stdout: all refused
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(nr, *args):
    r = libc.syscall(nr, *args)
    return r, ctypes.get_errno() if r < 0 else 0
NR = {'ptrace': 101, 'unshare': 272, 'setns': 308, 'mount': 165, 'umount2': 166, 'pivot_root': 155, 'chroot': 161, 'bpf': 321, 'userfaultfd': 323, 'perf_event_open': 298, 'keyctl': 250, 'add_key': 248, 'request_key': 249, 'process_vm_readv': 310, 'process_vm_writev': 311, 'io_uring_setup': 425, 'open_by_handle_at': 304, 'name_to_handle_at': 303, 'kexec_load': 246, 'init_module': 175, 'finit_module': 313, 'reboot': 169, 'swapon': 167, 'sethostname': 170, 'settimeofday': 164, 'clock_settime': 227, 'open_tree': 428, 'move_mount': 429, 'fsopen': 430, 'fsmount': 432, 'mount_setattr': 442, 'pidfd_getfd': 438, 'personality': 135, 'acct': 163, 'quotactl': 179, 'iopl': 172, 'ioperm': 173, 'shmget': 29, 'semget': 64, 'msgget': 68, 'mq_open': 240, 'socket': 41, 'connect': 42, 'bind': 49, 'listen': 50, 'accept': 43, 'fanotify_init': 300, 'syslog': 103, 'vhangup': 153, 'seccomp': 317, 'landlock_create_ruleset': 444, 'kcmp': 312, 'lookup_dcookie': 212, 'move_pages': 279, 'migrate_pages': 256, 'capset': 126, 'setgroups': 116, 'memfd_secret': 447, 'sysfs': 139, 'ustat': 136, 'modify_ldt': 154}
let = [n for n, nr in NR.items() if call(nr, 0, 0, 0, 0, 0, 0) != (-1, 1)]
print(let or "all refused")
