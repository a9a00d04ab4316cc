// class: syscall_denied
// denied: socket
require('net').connect(80, '1.1.1.1');
