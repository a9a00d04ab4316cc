#!/usr/bin/env node
const cp = require('child_process'); const {exec: e, spawn = 3} = require("node:child_process");
function add(a, b = 2, ...rest) { function inner(x) { return eval(x) } cp.execSync("ls"); e("x"); return inner(a) }
const mul = (x, {y}) => x; let h = add; 
class C { m(q) { return this.constructor.name } static async s() {} #p() {} f = () => 1 }
(0, eval)("1"); new Function("return 1"); process['bin' + 'ding']("fs"); globalThis.eval("x");
[].constructor.constructor("x")(); process[h]; import('fs').then(x => x);
const { createRequire } = require('module'); createRequire(__filename)('net').connect();
var o = { eval: 1, f() { return add(1) } }; o.eval; a: for (;;) { break a }
function eval2() {} eval2(); if (1) return;
