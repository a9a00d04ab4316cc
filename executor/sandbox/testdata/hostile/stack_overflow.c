// class: runtime_error
// signal: SIGSEGV
#include "hostile.h"
static int deeper(volatile char *above)
{
	volatile char here[4096];
	here[0] = above[0];
	return deeper(here) + here[0];
}
int main(void) { char c = 1; return deeper(&c); }
