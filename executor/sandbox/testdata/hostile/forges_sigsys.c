// class: runtime_error
// signal: SIGSYS
#include "hostile.h"
int main(void) { return raise(SIGSYS); }
