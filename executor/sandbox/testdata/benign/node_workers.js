// stdout: 4
const { Worker, isMainThread, parentPort } = require('worker_threads');
if (isMainThread) { let n = 0; for (let i = 0; i < 4; i++) new Worker(__filename).on('message', () => { if (++n === 4) console.log(n); }); }
else parentPort.postMessage(1);
