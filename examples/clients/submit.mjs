// Submits one job through the door that answers, and waits for its result.
//
//   npm install && node submit.mjs "Write add(a, b), which returns their sum."
//
// CALLGATE_NATS is the server, nats://127.0.0.1:4222 by default; CALLGATE_TENANT the tenant, "default" by default.
// Exit status: 0 completed, 1 failed, 2 bad input, 3 no server.
import { connect } from "@nats-io/transport-node";
import { jetstreamManager } from "@nats-io/jetstream";

const servers = (process.env.CALLGATE_NATS ?? "nats://127.0.0.1:4222").split(",");
const tenant = process.env.CALLGATE_TENANT ?? "default";
const prompt = process.argv[2] ?? "Write a Python function add(a, b) that returns the sum of its arguments.";

const fail = (status, why) => {
  console.error(why);
  process.exit(status);
};
if (!/^[A-Za-z0-9_-]{1,64}$/.test(tenant)) fail(2, `tenant '${tenant}': 1 to 64 letters, digits, _ or -`);
const nc = await connect({ servers }).catch((e) => fail(3, `no server at ${servers}: ${e.message}`));
try {
  const job = { prompt, language: "python", limits: { attempts: 4 } };
  const reply = await nc
    .request(`callgate.api.submit.${tenant}`, JSON.stringify(job), { timeout: 5000 })
    .catch((e) => fail(3, `no answer from a planner: ${e.message}`));
  if (reply.headers?.has("Nats-Service-Error-Code")) fail(2, `refused: ${reply.string()}`);
  const { id, sequence } = reply.json();
  console.error(`accepted as ${id}, submission ${sequence}`);

  // A result stays readable: subscribe first, then look whether it is there already.
  const subject = `callgate.result.${tenant}.${id}`;
  const sub = nc.subscribe(subject, { max: 1 });
  const jsm = await jetstreamManager(nc);
  const stored = await jsm.streams.getMessage("CALLGATE_RESULTS", { last_by_subj: subject });
  let outcome = stored?.json();
  if (!outcome) for await (const m of sub) outcome = m.json();

  console.log(JSON.stringify(outcome, null, 2));
  process.exitCode = outcome.state === "completed" ? 0 : 1;
} finally {
  await nc.close();
}
