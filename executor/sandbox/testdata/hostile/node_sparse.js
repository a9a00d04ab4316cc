// class: disk_limit
// status: killed
// Nothing is held by the file, and the error is the interpreter's own.
require("fs").truncateSync(require("fs").openSync("big", "w"), 2 ** 40);
