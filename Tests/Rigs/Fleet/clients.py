"""MQTT clients of a cluster: observers, a control client, and a reader of retained messages."""
from __future__ import annotations

import contextlib
import json
import threading
import time

import paho.mqtt.client as mqtt
from brokers import PASSWORD, Cluster

TAG = "jacquard/tag/0001"
PROBE, FACT = "jacquard/rig/probe", "jacquard/rig/fact"


def client_of(cluster: Cluster, identifier: str = "", **options) -> mqtt.Client:
    """A client that is not connected; without an identifier it has no session."""
    client = mqtt.Client(identifier, clean_session=not identifier, protocol=mqtt.MQTTv311, **options)
    client.username_pw_set(cluster.user("reader"), PASSWORD)
    return client


class Observer:
    """A client at one node: notes gestures and results, and sends commands."""

    def __init__(self, cluster: Cluster, number: int) -> None:
        # Every delivery, by boot and sequence number and by id.
        self.gestures: dict[tuple[str, int], list[bytes]] = {}
        self.results: dict[str, list[bytes]] = {}
        self.stats: dict[str, object] = {}
        self.received = 0.0
        # When each gesture arrived first, by sequence number, and the times without a subscription.
        self.arrivals: dict[int, float] = {}
        self.gaps: list[tuple[float, float]] = []
        self.gone_at: float | None = None
        self.is_ready = threading.Event()
        self.probes: set[bytes] = set()
        self.client = client_of(cluster, f"observer{number}")
        self.client.reconnect_delay_set(0.2, 0.5)
        self.client.on_connect = lambda *_: self.subscribe()
        self.client.on_disconnect = lambda *_: self.disconnected()
        self.client.on_subscribe = self.subscribed
        self.client.on_message = lambda _client, _data, message: self.note(message)
        self.client.connect_async("127.0.0.1", cluster.ports[number], keepalive=10)
        self.client.loop_start()

    def subscribe(self) -> None:
        topics = [f"{TAG}/gesture", f"{TAG}/stats", f"{TAG}/+/result", f"{TAG}/+/+/result", PROBE]
        self.client.subscribe([(topic, 1) for topic in topics])

    def disconnected(self) -> None:
        self.is_ready.clear()
        self.gone_at = self.gone_at or time.monotonic()

    def subscribed(self, _client, _data, _id, granted) -> None:
        # A node without a quorum refuses subscriptions.
        if any(code > 2 for code in granted):
            time.sleep(0.2)
            self.subscribe()
        else:
            if self.gone_at:
                self.gaps.append((self.gone_at, time.monotonic()))
                self.gone_at = None
            self.is_ready.set()

    def note(self, message) -> None:
        if message.topic == PROBE:
            self.probes.add(message.payload)
            return
        with contextlib.suppress(ValueError):
            document = json.loads(message.payload)
            if message.topic.endswith("/gesture"):
                self.gestures.setdefault((document["boot"], document["seq"]), []).append(message.payload)
                self.received = time.monotonic()
                self.arrivals.setdefault(document["seq"], self.received)
            elif message.topic.endswith("/stats"):
                self.stats = document
            elif document["final"]:
                self.results.setdefault(document["id"], []).append(message.payload)

    def missed(self, sequence: int) -> bool:
        """Whether there was no subscription between the arrivals of the gestures before and after one."""
        before = max((at for seq, at in self.arrivals.items() if seq < sequence), default=0)
        after = min((at for seq, at in self.arrivals.items() if seq > sequence), default=time.monotonic())
        return any(begin < after and end > before for begin, end in self.gaps)

    def last(self) -> int:
        return max((seq for _, seq in list(self.gestures)), default=0)


class Control:
    """A plain client with a lasting session that takes the next node when it loses its own."""

    def __init__(self, cluster: Cluster, nodes: list[int]) -> None:
        self.cluster, self.nodes, self.place, self.value = cluster, nodes, 0, 0
        self.ready, self.is_stopped = threading.Event(), False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        while not self.is_stopped:
            gone, granted = threading.Event(), threading.Event()
            client = client_of(self.cluster, "control")
            client.on_disconnect = lambda *_, gone=gone: gone.set()
            client.on_connect = lambda client, *_: client.subscribe(FACT, 1)
            client.on_subscribe = lambda _client, _data, _id, codes, granted=granted, gone=gone: (
                granted.set() if max(codes) <= 2 else gone.set())
            try:
                client.connect("127.0.0.1", self.cluster.ports[self.node], keepalive=10)
                client.loop_start()
                if granted.wait(5) and not gone.is_set():
                    self.ready.set()
                    while not gone.wait(0.5) and not self.is_stopped:
                        self.value += 1
                        client.publish(FACT, str(self.value), 1, retain=True)
                    self.ready.clear()
            except OSError:
                pass
            client.loop_stop()
            client.disconnect()
            if not self.is_stopped:
                self.place = (self.place + 1) % len(self.nodes)
                time.sleep(0.1)

    @property
    def node(self) -> int:
        return self.nodes[self.place]

    def is_right(self, survivors: list[int]) -> bool:
        """Whether its retained messages of the last seconds are where they should be."""
        nodes = survivors if self.cluster.shows_everywhere else [self.node]
        values = [retained(self.cluster, node, [FACT]).get(FACT, "0") for node in nodes]
        return self.ready.is_set() and min(map(int, values)) >= self.value - 3

    def stop(self) -> None:
        self.is_stopped = True


class Watch:
    """Evaluates a condition again and again, and knows when it was false for the last time."""

    def __init__(self, condition) -> None:
        self.condition, self.wrong_at, self.is_stopped = condition, time.monotonic(), False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        while not self.is_stopped:
            if not self.condition():
                self.wrong_at = time.monotonic()
            time.sleep(0.02)

    def age(self) -> float:
        """How long the condition has been true, in seconds."""
        return time.monotonic() - self.wrong_at

    def stop(self) -> float:
        self.is_stopped = True
        self.thread.join()
        return self.wrong_at


def retained(cluster: Cluster, node: int, topics: list[str]) -> dict[str, str]:
    """The retained messages of some topics at one node."""
    found: dict[str, str] = {}
    client = client_of(cluster)

    def note(_client, _data, message) -> None:
        found[message.topic] = message.payload.decode()

    client.on_connect = lambda client, *_: client.subscribe([(topic, 0) for topic in topics])
    client.on_message = note
    try:
        client.connect("127.0.0.1", cluster.ports[node], keepalive=10)
    except OSError:
        return {}
    # In this thread: a thread of the library would take further ports for each client.
    end = time.monotonic() + 1
    while len(found) < len(topics) and time.monotonic() < end:
        if client.loop(0.05) != mqtt.MQTT_ERR_SUCCESS:
            break
    client.disconnect()
    return found
