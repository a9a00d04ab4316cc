// class: out_of_memory runtime_error
// limits: {"memory_bytes": 134217728}
const x = []; for (;;) x.push(Buffer.alloc(1 << 20, 1));
