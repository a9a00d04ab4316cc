// stdout: 42
// file: helper.js exports.answer = 42
console.log(require("./helper").answer)
