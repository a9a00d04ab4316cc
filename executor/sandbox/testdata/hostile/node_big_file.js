// class: disk_limit
// status: killed
// limits: {"file_bytes": 1048576}
const fs = require("fs");
const fd = fs.openSync("big", "w");
for (let i = 0; i < 100; i++) fs.writeSync(fd, Buffer.alloc(65536));
