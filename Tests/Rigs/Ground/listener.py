"""MQTT clients of the ground: one that notes everything, and short ones that read what is retained."""

from __future__ import annotations

import contextlib
import json
import threading
import time
import uuid

import paho.mqtt.client as mqtt
from programs import wait_for

HOST, PORT = "127.0.0.1", 1883
Login = tuple[str, str] | None


def client(login: Login, version: int = mqtt.MQTTv311) -> mqtt.Client:
    """A client without a session, which is not connected."""
    # amqtt gives clients without an identifier the messages of each other.
    found = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, f"ground-{uuid.uuid4().hex[:12]}", protocol=version)
    if login:
        found.username_pw_set(*login)
    return found


def retained(login: Login, topics: list[str], seconds: float = 2) -> dict[str, str]:
    """The retained messages of some topics, by full names or wildcards. Waits for as many as there are topics, or the whole time."""
    found: dict[str, str] = {}
    reader = client(login)
    reader.on_connect = lambda reader, *_: reader.subscribe([(topic, 0) for topic in topics])

    has_wildcard = any("#" in topic or "+" in topic for topic in topics)

    def note(_client, _data, message) -> None:
        # A new client of amqtt receives what matches the subscriptions of all clients.
        if message.retain and message.payload and (has_wildcard or message.topic in topics):
            found[message.topic] = message.payload.decode(errors="replace")

    reader.on_message = note
    try:
        reader.connect(HOST, PORT, keepalive=10)
    except OSError:
        return {}
    end = time.monotonic() + seconds
    while (has_wildcard or len(found) < len(topics)) and time.monotonic() < end:
        if reader.loop(0.05) != mqtt.MQTT_ERR_SUCCESS:
            break
    reader.disconnect()
    return found


class Listener:
    """A client that notes all messages of the bridge, and sends commands. It connects again by itself."""

    def __init__(self, login: Login) -> None:
        self.lock = threading.Lock()
        self.messages: list[tuple[str, str, float]] = []
        self.is_ready = threading.Event()
        self.client = client(login)
        self.client.reconnect_delay_set(0.2, 0.5)
        self.client.on_connect = self.connected
        self.client.on_disconnect = lambda *_: self.is_ready.clear()
        self.client.on_subscribe = lambda *_: self.is_ready.set()
        self.client.on_message = self.note
        self.client.connect_async(HOST, PORT, keepalive=10)
        self.client.loop_start()

    @staticmethod
    def connected(client: mqtt.Client, *_: object) -> None:
        client.subscribe([("jacquard/#", 1), ("homeassistant/#", 1)])

    def note(self, _client, _data, message) -> None:
        with self.lock:
            self.messages.append((message.topic, message.payload.decode(errors="replace"), time.monotonic()))

    def wait_ready(self, seconds: float = 20) -> None:
        wait_for("the reader is subscribed", self.is_ready.is_set, seconds)

    def seen(self, topic: str, after: float = 0) -> list[str]:
        """The payloads of a topic that arrived after a time."""
        with self.lock:
            return [payload for name, payload, at in self.messages if name == topic and at > after]

    def topics(self) -> list[str]:
        with self.lock:
            return sorted({name for name, _, _ in self.messages})

    def results(self, tag: str, command: str, identifier: str) -> list[dict[str, object]]:
        """The results of a command that are final."""
        found = []
        for payload in self.seen(f"jacquard/tag/{tag}/{command}/result"):
            with contextlib.suppress(ValueError):
                document = json.loads(payload)
                if document.get("id") == identifier and document.get("final"):
                    found.append(document)
        return found

    def send(self, topic: str, document: dict[str, object]) -> None:
        self.client.publish(topic, json.dumps(document), 1)

    def stop(self) -> None:
        self.client.loop_stop()
        self.client.disconnect()
