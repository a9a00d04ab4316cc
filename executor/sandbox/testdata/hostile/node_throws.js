// class: runtime_error
// exit: 1
throw new Error("no");
