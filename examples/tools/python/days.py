#!/usr/bin/env python3
"""A tool in Python with the standard library alone: days_between. Usage: days.py [nats://[USER:PASSWORD@]HOST:PORT]

It speaks NATS itself: its text protocol, and the two requests by which micro services are found.
"""
import datetime, json, socket, sys, urllib.parse, uuid

CONTRACT = {
    "name": "days_between", "version": "1.0.0", "effect": "pure", "runs_in": "host", "timeout_ms": 2000,
    "description": "Counts the days from one date to another, negative when the second is earlier. Use it whenever an answer depends on a number of days.",
    "parameters": {"type": "object", "additionalProperties": False, "required": ["first", "last"], "properties": {
        "first": {"type": "string", "format": "date", "description": "Where to count from, as YYYY-MM-DD."},
        "last": {"type": "string", "format": "date", "description": "Where to count to, as YYYY-MM-DD."}}},
    "return_schema": {"type": "object", "required": ["days"], "properties": {"days": {"type": "integer"}}},
    "examples": [{"arguments": {"first": "2024-02-28", "last": "2024-03-01"}, "returns": {"days": 2}}],
}
SUBJECT = "callgate.tool.days_between.1_0_0"


def call(arguments):
    first, last = (datetime.date.fromisoformat(arguments[name]) for name in ("first", "last"))
    return {"days": (last - first).days}


who = {"name": "days", "id": uuid.uuid4().hex, "version": "1.0.0", "metadata": {}}
ping = {"type": "io.nats.micro.v1.ping_response", **who}
info = {"type": "io.nats.micro.v1.info_response", "description": "", **who, "endpoints": [
    {"name": "call", "subject": SUBJECT, "queue_group": "q", "metadata": {"callgate.contract": json.dumps(CONTRACT)}}]}

url = urllib.parse.urlsplit(sys.argv[1] if len(sys.argv) > 1 else "nats://127.0.0.1:4222")
stream = socket.create_connection((url.hostname, url.port or 4222)).makefile("rwb")


def send(line, *parts):
    stream.write(line.encode() + b"\r\n" + b"".join(parts))
    stream.flush()


def reply(to, data, header=b""):
    send(f"HPUB {to} {len(header)} {len(header) + len(data)}" if header else f"PUB {to} {len(data)}", header, data, b"\r\n")


stream.readline()  # the server's INFO
login = {"user": url.username, "pass": url.password} if url.username else {}
send("CONNECT " + json.dumps({"verbose": False, "headers": True, "lang": "python", "version": "1", "protocol": 1, "name": "days", **login}))
for sid, subject in enumerate(["$SRV.PING", "$SRV.INFO", "$SRV.PING.days", "$SRV.INFO.days", SUBJECT + " q"]):
    send(f"SUB {subject} {sid}")
for line in stream:
    word, *rest = line.decode().split()
    if word == "PING":
        send("PONG")
    elif word in ("MSG", "HMSG"):
        data = stream.read(int(rest[-1]) + 2)[int(rest[-2]) if word == "HMSG" else 0 : -2]
        try:
            answer = call(json.loads(data)) if rest[0] == SUBJECT else ping if "PING" in rest[0] else info
            reply(rest[2], json.dumps(answer).encode())
        except (ValueError, KeyError, TypeError) as wrong:
            reply(rest[2], b"", f"NATS/1.0\r\nNats-Service-Error: {wrong}\r\nNats-Service-Error-Code: 400\r\n\r\n".encode())
