#!/usr/bin/env bash
# paho-mqtt: a message that is published before the connection has "failed" for good, and is delivered nevertheless, if it has QoS 1.
#
# paho-mqtt 2.2.0 (PyPI), with the broker amqtt 0.12.1 (PyPI)
#
# publish() without a connection returns MQTT_ERR_NO_CONN for any QoS. With QoS 0 the message is dropped. With QoS 1 it is in the client's
# queue, and sent as soon as there is a connection. The returned object never learns of that: after the delivery is_published() and
# wait_for_publish() still raise "The client is not currently connected". A program that publishes again after this error, as it has to
# with QoS 0, publishes twice with QoS 1: an event or a command arrives double.
#
# Seen:
#   QoS 0: rc 4, RuntimeError: Message publish failed: The client is not currently connected.
#   QoS 1: rc 4, RuntimeError: Message publish failed: The client is not currently connected.
#   after the connection, received: QoS 1
#   the object of QoS 1, after PUBACK: RuntimeError: Message publish failed: The client is not currently connected.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/amqtt"

cat >"$folder/publish.py" <<'END'
import sys
import threading
import time

from paho.mqtt.client import CallbackAPIVersion, Client

PORT = int(sys.argv[1])


def connect(client):
    for _ in range(200):
        try:
            client.connect("127.0.0.1", PORT)
            return client.loop_start()
        except ConnectionRefusedError:
            time.sleep(0.1)
    raise TimeoutError("the broker has not started")


def outcome(message):
    try:
        message.wait_for_publish(1)
        return "published"
    except RuntimeError as error:
        return f"RuntimeError: {error}"


received, subscribed, acknowledged = [], threading.Event(), threading.Event()
reader = Client(CallbackAPIVersion.VERSION2, "reader")
reader.on_connect = lambda client, *_: client.subscribe("hall/#", 1)
reader.on_subscribe = lambda *_: subscribed.set()
reader.on_message = lambda _client, _data, message: received.append(message.payload.decode())
connect(reader)
if not subscribed.wait(20):
    raise TimeoutError("no SUBACK")

writer = Client(CallbackAPIVersion.VERSION2, "writer")
writer.on_publish = lambda *_: acknowledged.set()
messages = [writer.publish("hall/light", f"QoS {qos}", qos) for qos in (0, 1)]
for qos, message in enumerate(messages):
    print(f"QoS {qos}: rc {int(message.rc)}, {outcome(message)}")
connect(writer)
if not acknowledged.wait(20):
    print("no PUBACK")
time.sleep(2)
print("after the connection, received:", ", ".join(received))
print("the object of QoS 1, after PUBACK:", outcome(messages[1]))
END
"$folder/venv/bin/python" "$folder/publish.py" "$port" | tee "$folder/output"

sed -n 's/^#   //p' "${BASH_SOURCE[0]}" | diff - "$folder/output" >&2 && exit
echo "changed" >&2
exit 1
