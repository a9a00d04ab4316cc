// class: runtime_error
// signal: SIGKILL
#include "hostile.h"
int main(void) { return kill(getpid(), SIGKILL); }
