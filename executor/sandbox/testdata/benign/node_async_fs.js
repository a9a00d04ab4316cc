// stdout: abc true
// files: x.txt
const fs = require('fs/promises');
(async () => { await fs.writeFile('x.txt', 'abc'); await fs.copyFile('x.txt', '/tmp/y'); await fs.mkdir('/tmp/d/e', { recursive: true });
console.log(await fs.readFile('/tmp/y', 'utf8'), (await fs.readdir('.')).includes('x.txt')); })();
