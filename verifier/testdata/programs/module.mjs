import fs, { readFileSync as read } from "node:fs";
import * as cp from "child_process";
export { request } from "https";
export * from "./other.mjs";

/** Adds. */
export function add(a, b = 2, { c, d } = {}, ...rest) {
  return cp.execSync(a);
}
export default async (x) => read(x);
export const twice = (f) => (x) => f(f(x));
export class Stack {
  #items = [];
  static of(...items) { return new Stack(); }
  get size() { return this.#items.length; }
  push = (x) => this.#items.push(x);
}
const { data: { name } } = await import("./data.mjs");
fs.writeFileSync("out", name);
