"""Brokers as Debian's packages run them in a machine, with the files of config/clusters for one node, and amqtt from PyPI."""

from __future__ import annotations

import importlib.metadata
import json
import pathlib
import re
import sys

from brokers import EXAMPLES, PASSWORD, adapted
from listener import HOST, PORT, Login
from machine import Machine, require
from ports import listens
from programs import Program, wait_for
from roots import LOGS


class Broker:
    """A broker on port 1883, for one user of the bridge and one of readers."""

    name = package = unit = log_folder = ""
    #: Lines of the bridge's configuration below `mqtt`.
    options: list[str] = []
    #: What a user name ends with.
    domain = ""
    #: How long it may take to start.
    patience = 60.0

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def login(self, user: str) -> Login:
        return f"{user}{self.domain}", PASSWORD

    @property
    def version(self) -> str:
        return self.machine.version(self.package)

    def set_up(self) -> None:
        """Writes the files, and starts the broker for the first time."""
        # The ground starts it again itself, to measure the time from then on.
        self.machine.write(f"/run/systemd/system/{self.unit}.d/ground.conf", "[Service]\nRestart=no\n")
        self.machine.do("systemctl", "daemon-reload")
        self.configure()
        self.start()
        self.add_users()

    def configure(self) -> None:
        raise NotImplementedError

    def add_users(self) -> None:
        pass

    def start(self) -> None:
        self.machine.call("systemctl", "reset-failed", self.unit)
        self.machine.do("systemctl", "start", self.unit, timeout=300)
        wait_for(f"{self.name} listens", lambda: listens(PORT), self.patience)

    def keep_logs(self) -> None:
        """Copies the broker's own logs, because the journal does not have them."""
        text = self.machine.call("bash", "-c", f"cat /var/log/{self.log_folder}/*.log").stdout
        (LOGS / f"{self.machine.name}.{self.log_folder}.log").write_text(text, encoding="utf-8")

    def kill(self) -> None:
        self.machine.do("systemctl", "kill", "--signal=KILL", self.unit)
        wait_for(f"{self.name} has ended", lambda: not self.machine.is_active(self.unit) and not listens(PORT), 20)

    def stop(self) -> None:
        self.machine.call("systemctl", "stop", self.unit)
        self.keep_logs()
        wait_for(f"{self.name} has stopped", lambda: not listens(PORT), 60)


class Mosquitto(Broker):
    name = package = log_folder = "mosquitto"
    unit = "mosquitto.service"

    def configure(self) -> None:
        users = "/etc/mosquitto/passwd"
        for flags, name in (["-c"], "bridge"), ([], "reader"):
            self.machine.do("mosquitto_passwd", *flags, "-b", users, name, PASSWORD)
        self.machine.do("chown", "mosquitto:", users)
        self.machine.write("/etc/mosquitto/conf.d/ground.conf", f"listener {PORT} {HOST}\npassword_file {users}\n")


class RabbitMQ(Broker):
    name, package, unit = "RabbitMQ", "rabbitmq-server", "rabbitmq-server.service"
    log_folder = "rabbitmq"
    patience = 180.0

    def configure(self) -> None:
        examples = EXAMPLES / "rabbitmq"
        definitions = json.loads(adapted(examples / "definitions.json", {}))
        # As the head of rabbitmq.conf says.
        if int(self.version.split(".")[0]) >= 4:
            definitions["policies"] = []
        self.machine.write("/etc/rabbitmq/definitions.json", json.dumps(definitions))
        self.machine.write("/etc/rabbitmq/advanced.config", adapted(examples / "advanced.config", {}))
        self.machine.write("/etc/rabbitmq/enabled_plugins", "[rabbitmq_mqtt].\n")
        self.machine.write("/etc/rabbitmq/rabbitmq.conf", adapted(examples / "rabbitmq.conf", {
            "mqtt.listeners.tcp = none": f"mqtt.listeners.tcp.1 = {HOST}:{PORT}",
        }, r"^(ssl_options|mqtt\.listeners\.ssl|cluster_formation).*\n"))


class NATS(Broker):
    name, package, unit = "NATS", "nats-server", "nats-server.service"
    log_folder = "nats"

    def configure(self) -> None:
        self.machine.do("install", "-d", "-o", "nats", "-g", "nats", "-m", "700", "/var/lib/nats")
        text = adapted(EXAMPLES / "nats" / "nats-server.conf", {"0.0.0.0:8883": f"{HOST}:{PORT}"}, r"^cluster \{\n(.*\n)*?\}\n")
        text = re.sub(r"(?m)^    tls \{\n(.*\n)*?    \}\n", "", text)
        self.machine.write("/etc/nats-server.conf", text)


class Ejabberd(Broker):
    name = package = log_folder = "ejabberd"
    unit = "ejabberd.service"
    domain = "@mqtt.lan"
    patience = 120.0

    def configure(self) -> None:
        examples = EXAMPLES / "ejabberd"
        self.machine.write("/etc/default/ejabberd", adapted(examples / "ejabberdctl.cfg", {"ejabberd@north": "ejabberd@localhost"}))
        self.machine.write("/etc/ejabberd/ejabberd.yml", adapted(examples / "ejabberd.yml", {
            '"0.0.0.0"': f'"{HOST}"', "port: 8883": f"port: {PORT}", "    tls: true\n": "",
        }, r"^certfiles.*\n"))

    def add_users(self) -> None:
        for name in "bridge", "reader":
            self.machine.do("ejabberdctl", "register", name, self.domain.removeprefix("@"), PASSWORD)


class Amqtt(Broker):
    """amqtt from PyPI, run by this program's Python in the network of the machine."""

    name = package = "amqtt"
    options = ["version: 3.1.1"]
    program: Program | None = None

    @property
    def version(self) -> str:
        return importlib.metadata.version("amqtt")

    def set_up(self) -> None:
        path = LOGS / "amqtt.yaml"
        path.write_text(
            f"listeners:\n  default:\n    type: tcp\n    bind: {HOST}:{PORT}\n"
            "plugins:\n  amqtt.plugins.authentication.AnonymousAuthPlugin:\n    allow_anonymous: true\n", encoding="utf-8")
        command = [str(pathlib.Path(sys.executable).with_name("amqtt")), "-c", str(path)]
        name = f"{self.machine.name}.amqtt"
        (LOGS / f"{name}.log").unlink(missing_ok=True)
        self.program = Program(LOGS, name, command)
        wait_for("amqtt listens", lambda: listens(PORT), self.patience)

    def start(self) -> None:
        assert self.program
        self.program.start()
        wait_for("amqtt listens", lambda: listens(PORT), self.patience)

    def kill(self) -> None:
        assert self.program
        self.program.kill()
        require(not listens(PORT), "amqtt still listens")

    def stop(self) -> None:
        if self.program:
            self.program.stop()


KINDS: dict[str, type[Broker]] = {
    "mosquitto": Mosquitto, "rabbitmq": RabbitMQ, "nats": NATS, "ejabberd": Ejabberd, "amqtt": Amqtt,
}
