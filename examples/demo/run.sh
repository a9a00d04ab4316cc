#!/usr/bin/env bash
# Runs the bundled jobs through everything on the embedded default: five states, real sandbox, real verifier.
#
#   run.sh [CALLGATE]
#
# With OPENAI_API_KEY set (and OPENAI_BASE_URL, CALLGATE_MODEL) that model is asked. Without, the recorded answers beside
# this file are played back. Exit status 0 when every job completed.
set -euo pipefail

callgate=${1:-bin/callgate}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
server=
tools=()
finish() {
  status=$?
  for tool in "${tools[@]}"; do kill "$tool" 2>/dev/null || true; done
  if [[ -n $server ]]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  rm -rf "$work"
  exit $status
}
trap finish EXIT

model=(--answers "$here/answers.jsonl")
if [[ -n ${OPENAI_API_KEY:-} ]]; then
  model=()
  echo "asking ${OPENAI_BASE_URL:-https://api.openai.com/v1}"
else
  echo "no OPENAI_API_KEY: playing back the recorded answers of examples/demo/answers.jsonl"
fi

mkfifo "$work/ready"
XDG_STATE_HOME=$work "$callgate" up --listen 127.0.0.1:0 --data "$work/data" --log-level warn --tools-period 100ms \
  --mcp "$here/../tools/mcp/servers.json" "${model[@]}" >"$work/ready" &
server=$!
url=
while read -r word rest; do [[ $word == ready ]] && { url=$rest; break; }; done <"$work/ready"
[[ -n $url ]] || { echo "callgate up did not start" >&2; exit 3; }
echo "callgate up is ready on $url"
echo

# Two tools that are services of their own, in Python and in Node; a third one comes from an MCP server that `up` has started.
cp "$here"/../tools/node/{package.json,package-lock.json,slug.mjs} "$work"
(cd "$work" && npm ci --no-audit --no-fund --silent)
python3 "$here/../tools/python/days.py" "$url" &
tools+=($!)
node "$work/slug.mjs" "$url" &
tools+=($!)
# A job that names a tool is refused until the tool was found.
echo '{"prompt": "nothing", "code": "print(1)", "tools": ["days_between", "make_slug"]}' >"$work/probe.json"
until "$callgate" submit --file "$work/probe.json" --nats "$url" >/dev/null 2>&1; do
  kill -0 "${tools[@]}" || { echo "a tool did not start" >&2; exit 3; }
done
"$callgate" tools list --nats "$url" | grep NATS || true
echo

"$callgate" batch "$here/jobs.jsonl" --out "$work/results.jsonl" --nats "$url"

# One of them as it went, from the log.
job=$(sed -n 's/.*"custom_id":"tea-shop","id":"\([^"]*\)".*/\1/p' "$work/results.jsonl")
if [[ -n $job ]]; then
  echo
  echo "The story of one job, callgate show $job:"
  echo
  "$callgate" show "$job" --nats "$url"
fi
