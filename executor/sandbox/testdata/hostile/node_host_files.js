// class: ok
// stdout: none
const fs = require('fs');
const f = ['/etc/shadow', '/root', '/home', '/var', '/sys', '/proc/cmdline'].filter(p => fs.existsSync(p));
console.log(f.length ? f : 'none');
