// class: ok
// stdout: ENOSYS then still works
const fs = require("fs");
try { fs.watch("/usr/lib"); console.log("WATCHES"); } catch (e) { process.stdout.write(e.code); }
fs.promises.writeFile("a", "still works").then(() => fs.promises.readFile("a", "utf8")).then((s) => console.log(" then", s));
