// class: output_limit
// truncated: stdout
#include "hostile.h"
int main(void)
{
	int fd = open("large", O_RDWR | O_CREAT, 0600);
	ftruncate(fd, 1 << 25);
	for (;;) {
		off_t at = 0;
		sendfile(1, fd, &at, 1 << 25);
		splice(fd, &at, 1, NULL, 1 << 20, 0);
	}
}
