// class: ok
// stdout: all held
// A program reads /proc and writes nothing there.
#include "hostile.h"
int main(void)
{
	static const char *files[] = { "mem", "oom_score_adj", "oom_adj", "coredump_filter", "uid_map", "gid_map", "setgroups", "comm", "clear_refs", "timerslack_ns", "autogroup", "loginuid", "attr/current", "attr/exec", "sched", "projid_map", "timens_offsets", "make-it-fail" };
	for (unsigned i = 0; i < sizeof files / sizeof *files; i++) {
		char path[64];
		snprintf(path, sizeof path, "/proc/self/%s", files[i]);
		fails(open(path, O_WRONLY));
		fails(open(path, O_RDWR));
	}
	static const char *absent[] = { "sys", "kallsyms", "kcore", "cmdline", "locks", "slabinfo", "sysrq-trigger", "keys", "timer_list", "modules", "mounts/x", "net/tcp", "bus", "kmsg", "vmallocinfo", "interrupts", "acpi", "scsi", "stat", "loadavg" };
	for (unsigned i = 0; i < sizeof absent / sizeof *absent; i++) {
		char path[64];
		snprintf(path, sizeof path, "/proc/%s", absent[i]);
		fails(open(path, O_RDONLY));
	}
	DIR *d = opendir("/proc");
	for (struct dirent *e; (e = readdir(d));)
		if (atoi(e->d_name) > 3) fact("a process of someone else", 0);
	return verdict();
}
