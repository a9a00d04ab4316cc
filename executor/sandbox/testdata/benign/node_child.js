// stdout: hello
console.log(require('child_process').execFileSync('echo', ['hello']).toString().trim());
