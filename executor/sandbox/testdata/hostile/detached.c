// class: ok
// stdout: parent
// The grandchild has left session, group and parent, and keeps the output open.
#include "hostile.h"
int main(void)
{
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			for (int s = 1; s < 65; s++) signal(s, SIG_IGN);
			setpgid(0, 0);
			for (;;) pause();
		}
		_exit(0);
	}
	wait(NULL);
	puts("parent");
	return 0;
}
