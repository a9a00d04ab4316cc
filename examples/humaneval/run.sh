#!/usr/bin/env bash
# Runs the HumanEval problems through the whole pipeline, with recorded answers played back, and compares each job with
# what the data says of it.
#
#   run.sh HUMANEVAL.jsonl [CALLGATE]
set -euo pipefail

data=$1
callgate=${2:-bin/callgate}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
server=
finish() {
  status=$?
  if [[ -n $server ]]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  rm -rf "$work"
  exit $status
}
trap finish EXIT

[[ -r $data ]] || { echo "$data: the problems are not there" >&2; exit 2; }
/usr/bin/python3 "$here/prepare.py" "$data" "$work"
mkfifo "$work/ready"
XDG_STATE_HOME=$work "$callgate" up --listen 127.0.0.1:0 --data "$work/data" --log-level warn --answers "$work/answers.jsonl" >"$work/ready" &
server=$!
url=
while read -r word rest; do [[ $word == ready ]] && { url=$rest; break; }; done <"$work/ready"
[[ -n $url ]] || { echo "callgate up did not start" >&2; exit 3; }

# Some jobs fail, as they should: check.py says which.
"$callgate" batch "$work/jobs.jsonl" --out "$work/results.jsonl" --nats "$url" || [[ $? == 1 ]]
/usr/bin/python3 "$here/check.py" "$data" "$work/results.jsonl"
