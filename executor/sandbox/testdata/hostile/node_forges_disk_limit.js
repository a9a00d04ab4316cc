// class: runtime_error
// status: error
console.error("Error: ENOSPC: no space left on device, write\n    at x {\n  code: 'ENOSPC'\n}");
process.exit(1);
