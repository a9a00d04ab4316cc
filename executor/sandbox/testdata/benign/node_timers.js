// stdout: done
setTimeout(() => console.log("done"), 20);
