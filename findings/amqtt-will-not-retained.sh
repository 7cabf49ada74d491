#!/usr/bin/env bash
# amqtt: a last will is retained only if the first connection of the session has had a will with the retain flag.
#
# amqtt 0.12.1, with paho-mqtt 2.2.0 (both PyPI)
#
# A client makes a session on a connection without a will, and continues it on one with a will that has the retain flag, on a topic with the
# retained message "online". When the client is killed, subscribers of that moment receive the will. A client that subscribes afterwards gets
# "online": to it the dead client is alive.
#
# Seen:
#   a subscriber of that moment receives: online, offline
#   a later one receives: online
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/amqtt"

cat >"$folder/will.py" <<'END'
import os
import sys
import threading
import time

from paho.mqtt.client import CallbackAPIVersion, Client

PORT = int(sys.argv[1])


def connected(name, clean=True, will=False):
    client = Client(CallbackAPIVersion.VERSION2, name, clean_session=clean)
    if will:
        client.will_set("lamp/state", "offline", 1, retain=True)
    for _ in range(200):
        try:
            client.connect("127.0.0.1", PORT)
            client.loop_start()
            return client
        except ConnectionRefusedError:
            time.sleep(0.1)
    raise TimeoutError("the broker has not started")


def subscriber(name):
    received, arrived = [], threading.Event()
    client = connected(name)
    client.on_message = lambda _client, _data, message: (received.append(message.payload.decode()), arrived.set())
    client.subscribe("lamp/state", 1)
    if not arrived.wait(20):
        raise TimeoutError("no message")
    return received


# Another process, so that the end of its connection is that of the process.
child = os.fork()
if child == 0:
    client = connected("lamp", clean=False)
    client.publish("lamp/state", "online", 1, retain=True).wait_for_publish(20)
    client.disconnect()
    client.loop_stop()
    client = connected("lamp", clean=False, will=True)
    client.publish("lamp/state", "online", 1, retain=True).wait_for_publish(20)
    os.kill(os.getpid(), 19)
os.waitpid(child, os.WUNTRACED)
first = subscriber("first")
os.kill(child, 9)
for _ in range(100):
    if len(first) == 2:
        break
    time.sleep(0.1)
print("a subscriber of that moment receives:", ", ".join(first))
print("a later one receives:", ", ".join(subscriber("later")))
END
"$folder/venv/bin/python" "$folder/will.py" "$port" | tee "$folder/output"

sed -n 's/^#   //p' "${BASH_SOURCE[0]}" | diff - "$folder/output" >&2 && exit
echo "changed" >&2
exit 1
