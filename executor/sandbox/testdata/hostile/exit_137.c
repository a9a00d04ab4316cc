// class: runtime_error
// exit: 137
int main(void) { return 137; }
