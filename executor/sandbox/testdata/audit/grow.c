/* Grows files of the workspace in each way there is, beyond 4096 bytes. Prints a line for each that was not as expected. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char block[6000];
enum { MOST = 4096 };

static long size(const char *path)
{
	struct stat st;
	return stat(path, &st) < 0 ? -1 : (long)st.st_size;
}

static void say(const char *what, long got, long want)
{
	if (got != want) printf("%s: %ld, errno %s, expected %ld\n", what, got, strerrorname_np(errno), want);
}

#define CUT(name, call) do { \
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644); \
	errno = 77; \
	say(name, call, MOST); \
	say(name " errno", errno, 77); \
	lseek(fd, 0, SEEK_END); \
	errno = 0; \
	say(name " full", write(fd, block, 1), -1); \
	say(name " full errno", errno, ENOSPC); \
	say(name " size", size(name), MOST); \
	say(name " within", pwrite(fd, block, 10, MOST - 10), 10); \
	close(fd); \
} while (0)

#define REFUSED(name, call, result) do { \
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644); \
	errno = 0; \
	say(name, call, result); \
	if ((result) == -1) say(name " errno", errno, ENOSPC); \
	say(name " size", size(name), 0); \
	close(fd); \
} while (0)

static void *appends(void *name)
{
	for (int i = 0; i < 100; i++) {
		int fd = open(name, O_WRONLY | O_CREAT | O_APPEND, 0644);
		if (write(fd, block, 10) != 10) printf("append: %m\n");
		close(fd);
	}
	return NULL;
}

int main(void)
{
	int in = open("/tmp/in", O_RDWR | O_CREAT, 0644);
	say("elsewhere", write(in, block, sizeof block), sizeof block);
	int near = open("near", O_RDWR | O_CREAT, 0644);
	say("near", write(near, block, MOST), MOST);
	lseek(near, 0, SEEK_SET);
	struct iovec v[3] = { { block, 3000 }, { block, 2000 }, { block, 1000 } };
	off_t at = 0;
	CUT("write", write(fd, block, sizeof block));
	CUT("pwrite", pwrite(fd, block, sizeof block, 0));
	CUT("writev", writev(fd, v, 3));
	CUT("pwritev", pwritev(fd, v, 3, 0));
	CUT("copy_file_range", (write(fd, block, 1000), 1000 + copy_file_range(near, NULL, fd, NULL, MOST, 0)));
	CUT("sendfile", (at = 0, sendfile(fd, in, &at, sizeof block)));
	REFUSED("beyond", pwrite(fd, block, 1, MOST), -1);
	REFUSED("ftruncate", ftruncate(fd, MOST + 1), -1);
	REFUSED("truncate", truncate("truncate", MOST + 1), -1);
	REFUSED("fallocate", fallocate(fd, 0, 1, MOST), -1);
	REFUSED("posix_fallocate", posix_fallocate(fd, 1, MOST), ENOSPC);
	say("bad descriptor", write(99, block, 1), -1);
	say("bad descriptor errno", errno, EBADF);
	pthread_t t[4];
	for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, appends, "threads");
	for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
	say("threads", size("threads"), 4000);
	for (int i = 0; i < 4; i++)
		if (fork() == 0) {
			appends("forks");
			_exit(0);
		}
	while (wait(NULL) > 0) {}
	say("forks", size("forks"), 4000);
	FILE *f = fopen("stream", "w");
	fputs("x", f);
	fclose(f);
	f = fopen("flushed", "w");
	fwrite(block, 1, sizeof block, f);
	errno = 0;
	say("fflush", fflush(f), EOF);
	say("fflush errno", errno, ENOSPC);
	say("flushed", size("flushed"), MOST);
	say("fclose after it", fclose(f), 0);
	f = fopen("closed", "w");
	fwrite(block, 1, 3000, f);
	fwrite(block, 1, 3000, f);
	errno = 0;
	say("fclose", fclose(f), EOF);
	say("fclose errno", errno, ENOSPC);
	say("closed", size("closed"), MOST);
	f = fopen("closed", "a");
	fputs("x", f);
	say("fclose of a full one", fclose(f), EOF);
	f = fopen("/tmp/stream", "w");
	fwrite(block, 1, sizeof block, f);
	say("fclose elsewhere", fclose(f), 0);
	int large = open("large", O_RDWR | O_CREAT, 0644);
	say("large", size("large"), 5000);
	close(large);
	f = freopen("large", "a", fopen("small", "w"));
	say("fclose of another file", fclose(f), 0);
	say("large after it", size("large"), 5000);
	fwrite(block, 1, 5000, fopen("left", "w"));
	puts("done");
	return 0;
}
