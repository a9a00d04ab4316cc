"use strict";
// Says what a JavaScript program is, without running any of it.
//
// Reads the program's bytes from standard input, has this very V8 compile
// them, walks the tree that Node's own acorn makes of them, and prints one JSON
// document of facts. acorn is a part of Node, which --expose-internals lets a
// script require; nothing is looked for in the program's directory.
//
// Every walk is a loop over a stack of its own: the parsers take programs that
// are nested deeper than a recursive walk could follow.

const { createHash } = require("node:crypto");
const fs = require("node:fs");
const vm = require("node:vm");

const MAX_TEXT = 200; // characters of a default
const MAX_OUTPUT = 1 << 20; // bytes of facts
const MAX_DEPTH = 40; // steps that a name is followed through aliases and members
const MAX_NAMES = 64; // that one name is followed to

class Unreadable extends Error {
  constructor(message, line = 1, column = 1) {
    super(message);
    Object.assign(this, { line, column });
  }
}

class Unavailable extends Error {}
