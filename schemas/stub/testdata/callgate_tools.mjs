import net from "node:net";

// Tools that this program may call. A call that is refused or fails rejects with a ToolError.
class ToolError extends Error {
  constructor(errorClass, message) {
    super(errorClass + ": " + message);
    this.name = "ToolError";
    this.errorClass = errorClass;
  }
}

let socket = null, rest = "";
const waiting = [];

// Nothing keeps the program from ending but a call that waits for its answer.
function connected() {
  if (socket) return socket;
  socket = net.connect(1, "callgate-tools");
  socket.setEncoding("utf8");
  socket.on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) answered(JSON.parse(line));
  });
  const ended = () => {
    socket = null;
    rest = "";
    for (const call of waiting.splice(0)) call.reject(new ToolError("tool_failed", "the connection to the tools has ended"));
  };
  socket.on("error", ended);
  socket.on("close", ended);
  return socket;
}

function answered(answer) {
  const call = waiting.shift();
  if (waiting.length === 0) socket.unref();
  if (answer.error) call.reject(new ToolError(answer.error.class, answer.error.message));
  else call.resolve(answer.output);
}

function call(name, args) {
  return new Promise((resolve, reject) => {
    waiting.push({ resolve, reject });
    connected().ref();
    socket.write(JSON.stringify({ name, arguments: args }) + "\n");
  });
}

/**
 * Looks up a price.
 * Use it for one item.
 * @param {Object} args
 * @param {string} args.item
 * @param {"EUR"|"USD"} [args.currency] of the price
 * @param {number|null} [args["max-price"]]
 * @param {boolean} [args.exact]
 * @returns {Promise<*>}
 */
async function $look_up(args = {}) {
  return call("look-up", args);
}

/**
 * Has the same name, and hostile text: """ * / \ '
 * @param {Object} args
 * @param {*} [args.class]
 * @param {*} [args.import]
 * @param {Array} [args.list]
 * @param {Object} [args.map]
 * @param {number} [args.n]
 * @param {*} [args["a b"]]
 * @returns {Promise<*>}
 */
async function $look_up_(args = {}) {
  return call("look_up", args);
}

/**
 * Is named as a keyword is.
 * @param {Object} args
 * @returns {Promise<*>}
 */
async function $class_(args = {}) {
  return call("class", args);
}

/**
 * Begins with a digit.
 * @param {Object} args
 * @returns {Promise<*>}
 */
async function $_1st(args = {}) {
  return call("1st", args);
}

export { ToolError, $look_up as look_up, $look_up_ as look_up_, $class_ as class_, $_1st as _1st };
