// class: syscall_denied
// denied: socket
fetch('http://1.1.1.1/').then(r => console.log(r.status));
