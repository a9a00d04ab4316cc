// A tool in Node: make_slug. Usage: npm install && node slug.mjs [nats://HOST:PORT]
import { connect } from "nats";

const contract = {
  name: "make_slug",
  version: "1.0.0",
  description: "Turns a title into the last part of a web address. Use it for every title that becomes an address, so that all are made alike.",
  effect: "pure",
  runs_in: "host",
  timeout_ms: 2000,
  parameters: {
    type: "object",
    additionalProperties: false,
    required: ["title"],
    properties: { title: { type: "string", minLength: 1, maxLength: 500, description: "The title as people read it, in any language." } },
  },
  return_schema: { type: "object", required: ["slug"], properties: { slug: { type: "string", pattern: "^[a-z0-9-]+$" } } },
  examples: [{ arguments: { title: "Crème brûlée, twice" }, returns: { slug: "creme-brulee-twice" } }],
};

function call({ title }) {
  const slug = title.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  if (!slug) throw new Error("the title has no letter or digit that a web address can have");
  return { slug };
}

const nc = await connect({ servers: process.argv[2] ?? "nats://127.0.0.1:4222" });
const service = await nc.services.add({ name: "slugs", version: contract.version });
service.addEndpoint("call", {
  subject: `callgate.tool.${contract.name}.${contract.version.replaceAll(".", "_")}`,
  metadata: { "callgate.contract": JSON.stringify(contract) },
  handler(err, msg) {
    if (err) return;
    try {
      msg.respond(JSON.stringify(call(msg.json())));
    } catch (wrong) {
      msg.respondError(400, wrong.message);
    }
  },
});
process.once("SIGTERM", () => nc.drain());
await nc.closed();
