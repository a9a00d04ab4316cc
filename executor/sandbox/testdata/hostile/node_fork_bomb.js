// class: wall_timeout process_limit runtime_error
// limits: {"wall_ms": 2500}
const { spawn } = require('child_process');
process.on('uncaughtException', () => {});
setInterval(() => { for (let i = 0; i < 10; i++) spawn(process.execPath, [__filename]).on('error', () => {}); }, 1);
