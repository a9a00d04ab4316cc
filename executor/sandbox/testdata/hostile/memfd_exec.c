// class: ok
// stdout: all held
// denied: socket
// A program that lies in no file is under the same filter and the same rules.
#include "hostile.h"
int main(int argc, char **argv)
{
	if (argc > 1) {
		refused(EPERM, socket(AF_INET, SOCK_STREAM, 0));
		fails(open("/etc/shadow", O_RDONLY));
		fails(open("/usr/bin/new", O_WRONLY | O_CREAT, 0755));
		return verdict();
	}
	int from = open("/proc/self/exe", O_RDONLY), to = (int)syscall(SYS_memfd_create, "copy", 0);
	struct stat st;
	fstat(from, &st);
	for (off_t at = 0; at < st.st_size;)
		if (sendfile(to, from, &at, (size_t)(st.st_size - at)) <= 0) return 2;
	char *args[] = { argv[0], "again", NULL };
	syscall(SYS_execveat, to, "", args, NULL, AT_EMPTY_PATH);
	perror("execveat");
	return 3;
}
