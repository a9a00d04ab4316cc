// class: ok
// stdout: all held
#include "hostile.h"
#include <sys/xattr.h>
int main(int argc, char **argv)
{
	if (argc > 1) {
		fact("identity", getuid() == 1000 && geteuid() == 1000 && getegid() == 1000);
		return verdict();
	}
	int from = open("/proc/self/exe", O_RDONLY), to = open("copy", O_WRONLY | O_CREAT, 0755);
	struct stat st;
	fstat(from, &st);
	for (off_t at = 0; at < st.st_size;)
		if (sendfile(to, from, &at, (size_t)(st.st_size - at)) <= 0) return 2;
	fchmod(to, 06755);
	fails(fchown(to, 0, 0));
	fails(fsetxattr(to, "security.capability", "\1\0\0\2\377\377\377\377\0\0\0\0\377\377\377\377\0\0\0\0", 20, 0));
	close(to);
	fails(setuid(0));
	fails(setgid(0));
	fails(setresuid(0, 0, 0));
	fails(setreuid(65534, 65534));
	fails(setgroups(0, NULL));
	fails(open("/proc/self/exe", O_WRONLY));
	if (faults) return verdict();
	char *args[] = { "copy", "again", NULL };
	execv("copy", args);
	perror("exec");
	return 3;
}
