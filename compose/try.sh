#!/usr/bin/env bash
# Brings compose.yaml up on the engine at hand, sends batches through it while NATS nodes and an executor are stopped and
# killed, and takes it down again. Exit status 0 when every batch ended as it should, with nothing lost or done twice.
#
#   try.sh [HUMANEVAL.jsonl]
#
# With that file its problems are the batch, without it the demo's jobs many times over. Ports 4222 to 4224 of loopback
# have to be free.
set -euo pipefail
exec 3>&2
cd "$(dirname "$0")/.."

data=${1:-}
nats=nats://127.0.0.1:4222,nats://127.0.0.1:4223,nats://127.0.0.1:4224
work=$(mktemp -d)
engine=(docker compose)
docker compose version >/dev/null 2>&1 || engine=(docker-compose)
compose() { "${engine[@]}" -p callgate-try "$@"; }
finish() {
  status=$?
  exec 2>&3
  ((status)) && { compose ps; compose logs --no-color --tail 20; tail -n 20 "$work"/*.log; } >&2
  compose down -v >/dev/null 2>&1 || true
  rm -rf "$work"
  exit $status
}
trap finish EXIT

if [[ -r $data ]]; then
  python3 examples/humaneval/prepare.py "$data" "$work"
else
  cp examples/demo/answers.jsonl "$work"
  for i in {1..16}; do sed "s/\"custom_id\": \"/&$i-/" examples/demo/jobs.jsonl; done >"$work/jobs.jsonl"
fi
export CALLGATE_ANSWERS=$work/answers.jsonl
chmod -R a+rX "$work"

# whole waits until every worker takes work and no node is behind on any stream.
whole() {
  for _ in {1..120}; do
    { bin/callgate doctor --json --nats "$nats" || [[ $? == 3 ]]; } 2>/dev/null >"$work/doctor.json"
    if python3 - "$work/doctor.json" <<'PY'
import json, sys
nats = json.load(open(sys.argv[1]))["nats"]
sys.exit(not (nats["ok"] and all(not s["behind"] for s in nats["streams"]) and all(s["pulls"] for s in nats["states"])))
PY
    then return; fi
    sleep 1
  done
  echo "not whole after 120 s" >&2
  return 1
}

leader() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["nats"]["streams"][0]["leader"])' "$work/doctor.json"; }

# batch NAME COMMAND… sends the jobs, and runs COMMAND when a quarter of them have ended.
batch() {
  local name=$1 out=$work/$1.results began=$SECONDS jobs total
  shift
  total=$(wc -l <"$work/jobs.jsonl")
  bin/callgate batch "$work/jobs.jsonl" --out "$out" --nats "$nats" >"$work/batch.log" 2>&1 &
  jobs=$!
  until [[ -f $out && $(wc -l <"$out") -ge $((total / 4)) ]] || ! kill -0 $jobs 2>/dev/null; do sleep 0.1; done
  echo "$name: after $((SECONDS - began)) s, $(wc -l <"$out") of $total jobs: $*"
  "$@" >/dev/null 2>&1
  if wait $jobs; then :; elif [[ $? != 1 || ! -r $data ]]; then # some of the problems fail, as they should
    echo "$name: the batch failed" >&2
    return 1
  fi
  [[ ! -r $data ]] || python3 examples/humaneval/check.py "$data" "$out" >"$work/check.log" 2>&1 || { cat "$work/check.log" >&2; return 1; }
  echo "$name: all $total as they should be after $((SECONDS - began)) s"
}

rolling() { for node in nats-1 nats-2 nats-3; do compose restart "$node" && whole; done; }

# once reads each job's history: it has one end, and no answer was judged twice.
once() {
  local id
  sed 's/.*"id":"\([^"]*\)".*/\1/' "$work"/*.results | while read -r id; do
    bin/callgate show "$id" --json --nats "$nats"
  done | python3 -c '
import json, sys
text, jobs, decode = sys.stdin.read(), 0, json.JSONDecoder().raw_decode
while text := text.lstrip():
    job, end = decode(text)
    text, jobs = text[end:], jobs + 1
    states = [e["state"] for e in job["events"]]
    ends = [s for s in states if s in ("completed", "failed", "cancelled")]
    judged = [e["attempt"] for e in job["events"] if e["state"] == "verification"]
    if job["truncated"] or ends != states[-1:] or len(set(judged)) != len(judged):
        sys.exit("{}: {} {}".format(job["id"], states, judged))
print(jobs, "histories, each with one end and no answer judged twice")
'
}

exec 2>"$work/engine.log" # the engine's own account of what it starts and stops
compose up -d
compose run --rm provision | grep -qx "nothing to change" || { echo "provisioning twice changed something" >&2; exit 1; }
compose up -d --scale executor=2
whole
compose exec -T executor callgate exec --lang python --json - <<<'print(1)' | grep -q '"missing":\[\]' || { echo "the executor lacks isolation" >&2; exit 1; }

batch undisturbed true
node=$(leader)
batch stopped-leader compose stop "$node"
compose start "$node" && whole
node=$(leader)
batch killed-leader compose kill "$node"
compose start "$node" && whole
batch rolling-restart rolling
batch killed-executor docker kill "$(compose ps -q executor | head -n 1)"
compose up -d --scale executor=2 && whole
once
compose logs --no-color planner dispatcher executor verifier 2>/dev/null | grep -o '"level":"\(WARN\|ERROR\)","msg":"[^"]*"' | sort | uniq -c || true
echo "all as it should be"
