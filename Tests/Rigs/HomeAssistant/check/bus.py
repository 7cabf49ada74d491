"""A client of the broker that remembers what it hears."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Any

import paho.mqtt.client as paho
from failure import until


@dataclass(frozen=True)
class Message:
    """What came and when, and whether the broker had kept it."""

    topic: str
    payload: str
    is_retained: bool
    at: float


class Bus:
    """Listens to everything from its start on; it connects again by itself when the broker restarts."""

    def __init__(self, port: int) -> None:
        self.heard: list[Message] = []
        self._client = paho.Client(paho.CallbackAPIVersion.VERSION2, protocol=paho.MQTTv311)
        self._client.reconnect_delay_set(1, 1)
        self._client.on_connect = lambda client, *_: client.subscribe([("#", 1)])
        self._client.on_message = self._message
        self._client.connect_async("127.0.0.1", port)
        self._client.loop_start()

    def stop(self) -> None:
        """Leaves the broker."""
        self._client.disconnect()
        self._client.loop_stop()

    def _message(self, _client: Any, _data: Any, message: paho.MQTTMessage) -> None:
        payload = message.payload.decode(errors="replace")
        self.heard.append(Message(message.topic, payload, bool(message.retain), time.monotonic()))

    async def publish(self, topic: str, payload: Any = "", retain: bool = False) -> None:
        """Publishes with QoS 1; what is no text becomes JSON."""
        text = payload if isinstance(payload, str) else json.dumps(payload)
        sent = self._client.publish(topic, text, qos=1, retain=retain)
        await asyncio.to_thread(sent.wait_for_publish, 5)

    def on(self, topic: str, since: int = 0) -> list[Message]:
        """The messages of a topic or filter, from that place in `heard` on."""
        return [m for m in self.heard[since:] if paho.topic_matches_sub(topic, m.topic)]

    def latest(self, topic: str) -> str:
        """The last payload of a topic; empty if there is none."""
        found = self.on(topic)
        return found[-1].payload if found else ""

    async def expect(self, topic: str, count: int = 1, since: int = 0, within: float = 10) -> list[Message]:
        """Waits for so many messages."""

        async def enough() -> list[Message]:
            found = self.on(topic, since)
            return found if len(found) >= count else []

        return await until(f"{count} messages on {topic}", enough, within)

    async def shows(self, topic: str, payload: str) -> None:
        """Waits until a payload is the last one of its topic: Home Assistant may have received it earlier."""

        async def is_last() -> bool:
            return self.latest(topic) == payload

        await until(f"{topic} {payload}", is_last)
