// class: disk_limit
#include "hostile.h"
int main(void)
{
	char name[300] = { 0 };
	memset(name, 'n', 240);
	for (int i = 0; i < 100000; i++) {
		sprintf(name + 240, "%d", i);
		if (mkdir(name, 0700) < 0) return 1;
	}
	return 0;
}
