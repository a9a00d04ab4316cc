#!/usr/bin/env bash
# Submits one job through the door for programs that only publish, and waits for its result. It needs bash and nothing
# else: the NATS protocol is text.
#
#   ./submit.sh 'Write add(a, b), which returns their sum.'
#
# Exit status: 0 completed, 1 failed, 2 bad input, 3 no server or no answer within 10 minutes.
# CALLGATE_NATS is the server, nats://127.0.0.1:4222 by default; CALLGATE_TENANT the tenant, "default" by default.
set -euo pipefail

url=${CALLGATE_NATS:-nats://127.0.0.1:4222}
tenant=${CALLGATE_TENANT:-default}
prompt=${1:-Write a Python function add(a, b) that returns the sum of its arguments.}
hostport=${url#nats://}
[[ $tenant =~ ^[A-Za-z0-9_-]{1,64}$ ]] || { echo "tenant '$tenant': 1 to 64 letters, digits, _ or -" >&2; exit 2; }
id="sh-$$-$(date +%s)"

# JSON string: backslash, quote and line breaks are what a prompt may hold.
escaped=${prompt//\\/\\\\}; escaped=${escaped//\"/\\\"}; escaped=${escaped//$'\n'/\\n}; escaped=${escaped//$'\t'/\\t}
job="{\"id\":\"$id\",\"prompt\":\"$escaped\",\"language\":\"python\"}"
length=$(printf %s "$job" | wc -c)

{ exec 3<>"/dev/tcp/${hostport%:*}/${hostport##*:}"; } 2>/dev/null || { echo "no server at $url" >&2; exit 3; }
say() { printf '%s\r\n' "$*" >&3; }

# With headers a server says at once that nobody keeps what was published.
say 'CONNECT {"verbose":false,"pedantic":false,"headers":true,"no_responders":true,"name":"submit.sh","lang":"bash","version":"1"}'
# The result and a rejection are subscribed to before the job is published, so that neither can be missed.
say "SUB callgate.result.$tenant.$id 1"
say "SUB callgate.rejected.$tenant 2"
say "SUB _INBOX.$id 3"
say "PUB callgate.submit.$tenant _INBOX.$id $length"
say "$job"

# A rejection may come before the acknowledgement that says under which number to look for it.
sequence= rejections=
refused() {
  local line
  [[ -n $sequence ]] || return 0
  while IFS= read -r line; do
    [[ $line == *"\"sequence\":$sequence,"* ]] && { echo "rejected: $line" >&2; exit 2; }
  done <<<"$rejections"
  return 0
}

while IFS= read -r -t 600 line <&3; do
  line=${line%$'\r'}
  case $line in
    PING) say PONG ;;
    -ERR*) echo "server: $line" >&2; exit 3 ;;
    MSG\ *|HMSG\ *)
      fields=($line)
      size=${fields[-1]}
      LC_ALL=C IFS= read -r -N "$size" body <&3
      headers=
      # So many bytes of it are headers, which are ASCII.
      [[ $line == HMSG* ]] && headers=${body:0:fields[-2]} body=${body:fields[-2]}
      case ${fields[2]} in
        1) printf '%s\n' "$body"; [[ $body == *'"state":"completed"'* ]]; exit ;;
        # JetStream's own acknowledgement: {"stream":"CALLGATE_SUBMIT","seq":7}
        3) [[ $headers == 'NATS/1.0 503'* ]] && { echo "no pipeline on the server at $url: nothing keeps submissions there" >&2; exit 3; }
           [[ $body == *'"error"'* ]] && { echo "refused: $body" >&2; exit 3; }
           sequence=${body##*\"seq\":}; sequence=${sequence%%[,\}]*}
           echo "stored as submission $sequence" >&2
           refused ;;
        2) rejections+=$body$'\n'; refused ;;
      esac ;;
  esac
done
echo "no more from the server: it closed the connection, or was silent for 10 minutes" >&2
exit 3
