#!/usr/bin/env bash
# amqtt: whether a client with MQTT 5 is refused depends on the properties in its CONNECT.
#
# amqtt 0.12.1 (PyPI)
#
# amqtt supports MQTT 3.1.1 only, and reads each CONNECT in that format before it looks at the version. With an empty list of properties,
# the bytes still make sense, and the client receives return code 1, "unacceptable protocol version", after which it can try 3.1.1. With a
# session expiry interval, which most clients send that keep their session, the broker takes the properties for the length of a longer
# client identifier and waits for the rest: no answer, and the connection stays open. So a client that relies on the refusal never falls
# back; it also has to take silence for one.
#
# Seen:
#   3.1.1: 20020000
#   5, no property: 20020001
#   5, session expiry interval: no answer within 10 s, still connected
set -euo pipefail

folder=$(mktemp -d)
broker=
trap '[ -z "$broker" ] || kill "$broker" 2>/dev/null || :; rm -rf "$folder"' EXIT

python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" --quiet --disable-pip-version-check install amqtt==0.12.1 || exit 77

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >"$folder/amqtt.yaml" <<END
listeners:
  default: {type: tcp, bind: "127.0.0.1:$port"}
plugins:
  amqtt.plugins.authentication.AnonymousAuthPlugin: {allow_anonymous: true}
END
"$folder/venv/bin/amqtt" -c "$folder/amqtt.yaml" >"$folder/log" 2>&1 &
broker=$!

cat >"$folder/connect.py" <<'END'
import socket
import sys
import time

PATIENCE = 10
PORT = int(sys.argv[1])


def text(value):
    return len(value).to_bytes(2) + value.encode()


def connect(version, properties=b""):
    """A CONNECT with a clean start, a keep-alive of 60 s and the client identifier `hall`."""
    body = text("MQTT") + bytes([version, 2, 0, 60]) + properties + text("hall")
    return bytes([0x10, len(body)]) + body


def answer(packet):
    with socket.create_connection(("127.0.0.1", PORT), PATIENCE) as connection:
        connection.sendall(packet)
        try:
            return connection.recv(16).hex() or "closed"
        except TimeoutError:
            return f"no answer within {PATIENCE} s, still connected"


for _ in range(200):
    try:
        socket.create_connection(("127.0.0.1", PORT)).close()
        break
    except ConnectionRefusedError:
        time.sleep(0.1)
expiry = b"\x11" + (3600).to_bytes(4)
print("3.1.1:", answer(connect(4)))
print("5, no property:", answer(connect(5, b"\x00")))
print("5, session expiry interval:", answer(connect(5, bytes([len(expiry)]) + expiry)))
END
"$folder/venv/bin/python" "$folder/connect.py" "$port" | tee "$folder/output"

sed -n 's/^#   //p' "${BASH_SOURCE[0]}" | diff - "$folder/output" >&2 && exit
echo "changed" >&2
exit 1
