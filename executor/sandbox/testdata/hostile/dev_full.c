// class: runtime_error
// exit: 1
// A device that is full is no workspace that is.
#include "hostile.h"
int main(void)
{
	FILE *f = fopen("/dev/full", "w");
	setbuf(f, NULL);
	if (fputs("x", f) >= 0) return 2;
	perror("/dev/full");
	return 1;
}
