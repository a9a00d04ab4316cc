// stdout: ok
const c = require('crypto'), z = require('zlib');
c.pbkdf2('a', 'b', 1000, 32, 'sha256', () => z.gzip('x'.repeat(1000), () => console.log('ok')));
