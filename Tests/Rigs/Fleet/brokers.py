"""Broker clusters on loopback, each node with the files of config/clusters, in which only addresses and paths differ."""
from __future__ import annotations

import os
import pathlib
import re
import signal
import subprocess
from collections.abc import Callable

from ports import listens, take_port
from programs import TREE, Program, program, wait_for

EXAMPLES = TREE / "config" / "clusters"
PASSWORD = "secret"


def adapted(path: pathlib.Path, values: dict[str, str], without: str = "") -> str:
    """An example file with other values, and without what matches an expression."""
    text = path.read_text(encoding="utf-8")
    if without:
        text, count = re.subn(f"(?m){without}", "", text)
        assert count, f"{path}: nothing matches {without}"
    for example, value in values.items():
        assert example in text, f"{path}: no {example}"
        text = text.replace(example, value)
    return text


class Cluster:
    """A cluster: its nodes, and what its kind promises."""

    #: The folder below config/clusters.
    kind = ""
    #: The Debian package, and the program in it that a node runs.
    package = program = ""
    count = 3
    #: Whether a node shows the retained messages that were published at another one.
    shows_everywhere = True
    #: Whether a subscription of a client continues at another node.
    keeps_sessions = True
    #: Whether a node that was cut off is started again by its administrator.
    restarts_after_cut = False
    #: What a user name ends with.
    domain = ""
    #: How long a node may take to start.
    patience = 20.0

    def __init__(self, folder: pathlib.Path, count: int | None = None) -> None:
        self.folder = folder
        self.count = count or self.count
        self.ports = [take_port() for _ in range(self.count)]
        self.nodes: list[Program] = []
        self.helpers: list[Program] = []
        # For bridges.
        (folder / "password").write_text(f"{PASSWORD}\n", encoding="utf-8")
        (folder / "password").chmod(0o600)

    def user(self, name: str) -> str:
        return name + self.domain

    def start(self) -> None:
        raise NotImplementedError

    def add(self, node: Program) -> None:
        """Adds a node, and waits until it listens."""
        self.nodes.append(node)
        self.wait(len(self.nodes) - 1)

    def wait(self, number: int) -> None:
        wait_for(f"{self.kind} node {number} listens", lambda: listens(self.ports[number]), self.patience)

    def bridge(self) -> str:
        """The part `mqtt` of a bridge's configuration."""
        path = EXAMPLES / self.kind / "bridge.yaml"
        hosts = ", ".join(f"127.0.0.1:{port}" for port in self.ports)
        # A simulated bridge starts at the first node.
        text = adapted(path, {"order: spread": "order: listed"}, r"^  tls:\n(    .*\n)+")
        return re.sub(r"hosts: \[.*\]", f"hosts: [{hosts}]", text)

    def stop(self) -> None:
        for part in reversed(self.helpers + self.nodes):
            # A stopped process does not receive SIGTERM.
            part.process.send_signal(signal.SIGCONT)
            part.stop()


class NATS(Cluster):
    """Debian's nats-server with JetStream."""

    restarts_after_cut = True
    kind = "nats"
    package = program = "nats-server"

    def start(self) -> None:
        routes = [take_port() for _ in range(self.count)]
        for number, (port, route) in enumerate(zip(self.ports, routes)):
            text = adapted(EXAMPLES / self.kind / "nats-server.conf", {
                "server_name: north": f"server_name: node{number}", "127.0.0.1:4222": f"127.0.0.1:{take_port()}",
                "/var/lib/nats": str(self.folder / f"store{number}"), "0.0.0.0:6222": f"127.0.0.1:{route}",
                "advertise: north.lan:6222": f"advertise: 127.0.0.1:{route}",
                "0.0.0.0:8883": f"127.0.0.1:{port}",
                "nats://north.lan:6222, nats://east.lan:6222, nats://south.lan:6222":
                    ", ".join(f"nats://127.0.0.1:{other}" for other in routes),
            }, r"^    tls \{\n(.*\n)*?    \}\n")
            path = self.folder / f"node{number}.conf"
            path.write_text(text, encoding="utf-8")
            self.nodes.append(Program(self.folder, f"node{number}", [program("nats-server"), "-c", str(path)]))
        for number in range(self.count):
            self.wait(number)


class ErlangCluster(Cluster):
    """Nodes of Erlang, with a port mapper of their own, as long as they run."""

    patience = 180.0

    def __init__(self, folder: pathlib.Path, count: int | None = None) -> None:
        super().__init__(folder, count)
        cookie = folder / ".erlang.cookie"
        cookie.write_text("fleet", encoding="utf-8")
        cookie.chmod(0o400)
        mapper = take_port()
        self.environment = {"HOME": str(folder), "ERL_EPMD_PORT": str(mapper), "ERL_EPMD_ADDRESS": "127.0.0.1"}
        # The port mapper that a node starts by itself would outlive it.
        self.helpers.append(Program(folder, "epmd", ["epmd", "-port", str(mapper), "-address", "127.0.0.1"]))
        wait_for("the port mapper listens", lambda: listens(mapper))

    #: Only this machine may connect.
    LOOPBACK = "-kernel inet_dist_use_interface {127,0,0,1}"


class RabbitMQ(ErlangCluster):
    """Debian's rabbitmq-server with its MQTT plug-in."""

    kind = "rabbitmq"
    package = program = "rabbitmq-server"
    shows_everywhere = False
    restarts_after_cut = True

    def start(self) -> None:
        examples = EXAMPLES / self.kind
        (self.folder / "advanced.config").write_text(adapted(examples / "advanced.config", {}), encoding="utf-8")
        (self.folder / "enabled_plugins").write_text("[rabbitmq_mqtt].\n", encoding="utf-8")
        for number, port in enumerate(self.ports):
            text = adapted(examples / "rabbitmq.conf", {
                "/etc/rabbitmq/definitions.json": str(examples / "definitions.json"),
                "mqtt.listeners.tcp = none": f"mqtt.listeners.tcp.1 = 127.0.0.1:{port}",
            }, r"^(ssl_options|mqtt\.listeners\.ssl|cluster_formation\.classic_config).*\n")
            text += "".join(
                f"cluster_formation.classic_config.nodes.{other + 1} = node{other}@localhost\n" for other in range(self.count))
            home = self.folder / f"node{number}"
            home.mkdir()
            (home / "rabbitmq.conf").write_text(text, encoding="utf-8")
            self.add(Program(self.folder, f"node{number}", ["/usr/lib/rabbitmq/bin/rabbitmq-server"], {
                **self.environment, "RABBITMQ_NODENAME": f"node{number}@localhost",
                "RABBITMQ_CONFIG_FILE": str(home / "rabbitmq.conf"),
                "RABBITMQ_ADVANCED_CONFIG_FILE": str(self.folder / "advanced.config"),
                "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "enabled_plugins"),
                "RABBITMQ_MNESIA_BASE": str(home / "data"), "RABBITMQ_LOG_BASE": str(home / "log"),
                "RABBITMQ_LOGS": "-", "RABBITMQ_DIST_PORT": str(take_port()),
                "RABBITMQ_PID_FILE": str(home / "pid"), "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": self.LOOPBACK,
                # Makes the script replace itself by the node.
                "RUNNING_UNDER_SYSTEMD": "true",
            }))


class Ejabberd(ErlangCluster):
    """Debian's ejabberd with mod_mqtt."""

    kind = "ejabberd"
    package, program = "ejabberd", "ejabberdctl"
    shows_everywhere = False
    keeps_sessions = False
    restarts_after_cut = True
    domain = "@mqtt.lan"

    def start(self) -> None:
        library = next(pathlib.Path("/usr/lib").glob("*/ejabberd-*/ebin")).parents[1]
        self.environment["ERL_LIBS"] = str(library)
        options = re.search(r'^ERL_OPTIONS="(.*)"$', adapted(EXAMPLES / self.kind / "ejabberdctl.cfg", {}), re.M)
        assert options, "ejabberdctl.cfg: no ERL_OPTIONS"
        for number, port in enumerate(self.ports):
            text = adapted(EXAMPLES / self.kind / "ejabberd.yml", {
                '"0.0.0.0"': '"127.0.0.1"', "port: 8883": f"port: {port}", "    tls: true\n": "",
            }, r"^certfiles.*\n")
            home = self.folder / f"node{number}"
            home.mkdir()
            (home / "ejabberd.yml").write_text(text, encoding="utf-8")
            dist = take_port()
            # As ejabberdctl does, which would use another account.
            self.add(Program(self.folder, f"node{number}", [
                "erl", "-sname", f"node{number}@localhost", *self.LOOPBACK.split(), *options[1].split(),
                "-kernel", "inet_dist_listen_min", str(dist), "inet_dist_listen_max", str(dist),
                "-mnesia", "dir", f'"{home / "data"}"', "-s", "ejabberd", "-noinput",
            ], {
                **self.environment, "EJABBERD_CONFIG_PATH": str(home / "ejabberd.yml"),
                "EJABBERD_LOG_PATH": str(home / "ejabberd.log"), "ERL_CRASH_DUMP": str(home / "crash"),
            }))
            wait_for("ejabberd runs", lambda number=number: self.call(number, "status").returncode == 0, self.patience)
            if number == 0:
                for name in ("bridge", "reader"):
                    self.command(number, "register", name, self.domain.removeprefix("@"), PASSWORD)
            else:
                self.command(number, "join_cluster", "node0@localhost")
                self.wait(number)

    def call(self, number: int, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs a command as `ejabberdctl` does."""
        return subprocess.run(
            ["erl", "-sname", f"command{os.getpid()}@localhost", "-hidden", "-noinput", "-s", "ejabberd_ctl",
             "-extra", f"node{number}@localhost", *words],
            env={**os.environ, **self.environment}, capture_output=True, text=True, timeout=60, check=False)

    def command(self, number: int, *words: str) -> None:
        """Runs a command that has to succeed."""
        result = self.call(number, *words)
        assert result.returncode == 0, f"{words}: {result.stdout}{result.stderr}"


class MosquittoPair(Cluster):
    """Two of Debian's mosquitto, one of which connects to the other."""

    kind = "mosquitto-pair"
    package = program = "mosquitto"
    count = 2
    keeps_sessions = False

    def start(self) -> None:
        examples = EXAMPLES / self.kind
        users = self.folder / "passwd"
        # The last one is the user of bridge.conf.
        for flags, name in (["-c"], "bridge"), ([], "reader"), ([], "admin"):
            subprocess.run(["mosquitto_passwd", *flags, "-b", str(users), name, PASSWORD], check=True, capture_output=True)
        users.chmod(0o644)
        self.folder.chmod(0o755)
        for number, port in enumerate(self.ports):
            text = adapted(examples / "mosquitto.conf", {
                "listener 8883": f"listener {port} 127.0.0.1", "/etc/mosquitto/passwd": str(users),
            }, r"^(acl_file|cafile|certfile|keyfile) .*\n")
            if number == 1:
                text += adapted(
                    examples / "bridge.conf", {"north.lan:8883": f"127.0.0.1:{self.ports[0]}"}, r"^bridge_cafile .*\n")
            path = self.folder / f"node{number}.conf"
            path.write_text(text, encoding="utf-8")
            path.chmod(0o644)
            self.add(Program(self.folder, f"node{number}", [program("mosquitto"), "-c", str(path)]))


KINDS: dict[str, Callable[..., Cluster]] = {
    "nats": NATS, "rabbitmq": RabbitMQ, "ejabberd": Ejabberd, "mosquitto": MosquittoPair,
}
