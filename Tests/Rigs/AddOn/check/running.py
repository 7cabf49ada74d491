"""The start script of the add-on with a simulated supervisor, a broker, and simulated tags."""
import contextlib
import http.client
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time

from ingress import Ingress
from ports import listens, take_port
from programs import Stopwatch, mosquitto_command
from tools import ADD_ON, require

TOKEN = "0123456789abcdef0123456789abcdef"
PASSWORD = "Oh5'\"eu: #x"
NETWORK = None
"""Why there is no network with the supervisor's address, or None."""


class Supervisor:
    """Answers like the supervisor's API for services.

    Source: https://developers.home-assistant.io/docs/api/supervisor/endpoints#service
    """

    def __init__(self, service=None, failures=0):
        self.service, self.failures, self.requests = service, failures, []
        supervisor = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                supervisor.requests.append(self.path)
                status, answer = supervisor.answer(self.path, self.headers.get("Authorization"))
                body = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, path, authorization):
        if authorization != f"Bearer {TOKEN}":
            return 401, {"result": "error", "message": "unauthorized"}
        if path != "/services/mqtt":
            return 404, {"result": "error", "message": "Service does not exist"}
        if self.failures > 0 or self.service is None:
            self.failures -= 1
            return 400, {"result": "error", "message": "Service not enabled"}
        return 200, {"result": "ok", "data": self.service}

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class World:
    """A broker that needs a login, simulated tags, and a supervisor that knows the broker."""

    def __init__(self, rig, failures=0):
        self.rig, self.port = rig, take_port()
        rig.say("$ mosquitto, with the user addons of the supervisor")
        passwords = rig.write("passwd", "", 0o600)
        subprocess.run(["mosquitto_passwd", "-b", passwords, "addons", PASSWORD], check=True, capture_output=True)
        subprocess.run(["mosquitto_passwd", "-b", passwords, "reader", "reader"], check=True, capture_output=True)
        os.chmod(passwords, 0o644)
        options = ["allow_anonymous false", f"password_file {passwords}"]
        self.broker = rig.start("broker", mosquitto_command(rig.folder, self.port, options))
        deadline(lambda: listens(self.port), "the broker listens")
        self.supervisor = Supervisor(
            {"host": "127.0.0.1", "port": self.port, "username": "addons", "password": PASSWORD, "ssl": False,
             "protocol": "3.1.1", "addon": "core_mosquitto"}, failures)
        programs = os.path.join(rig.folder, "bin")
        os.makedirs(programs)
        for name in ("jacquard2mqtt", "jacquard2mqtt-web", "jacquard-simulator"):
            # Copies that every user can execute.
            shutil.copy(rig.program(name), programs)
        self.programs = programs
        self.page_port = take_port()
        # A private bus accepts only its own user, which is nobody if this rig runs as root.
        user = ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"] if os.geteuid() == 0 else []
        simulator = rig.start(
            "tags", [*user, os.path.join(programs, "jacquard-simulator"), "--tags", "1", "--serials", "0001",
                     "--gestures-every", "1"], stdin=subprocess.PIPE)
        self.bus = simulator.prints("DBUS_SYSTEM_BUS_ADDRESS=").split("=", 1)[1]
        simulator.prints("ready")

    def add_on(self, options, **variables):
        """Starts the add-on as its container does."""
        data = os.path.join(self.rig.folder, "data")
        self.rig.write("data/options.json", json.dumps(options))
        self.rig.say("$ cat /data/options.json")
        self.rig.say(json.dumps(options))
        environment = {
            **os.environ, "PATH": f"{self.programs}:{os.environ['PATH']}", "DATA": data,
            "RUN": os.path.join(self.rig.folder, "run"), "SUPERVISOR": self.supervisor.address,
            "SUPERVISOR_TOKEN": TOKEN, "DBUS_SYSTEM_BUS_ADDRESS": self.bus, "ATTEMPTS": "3",
            "PORT": str(self.page_port), **variables}
        self.rig.say("$ start")
        self.environment = environment
        return self.rig.start("add-on", [os.path.join(ADD_ON, "start")], env=environment)

    def subscribe(self, topic, *options):
        """A client of the broker that prints messages."""
        self.rig.say(f"$ mosquitto_sub -t '{topic}' {' '.join(options)}")
        return self.rig.start(
            "client", ["mosquitto_sub", "-h", "127.0.0.1", "-p", str(self.port), "-u", "reader", "-P", "reader", "-v", "-t",
                       topic, *options])

    def health(self):
        return subprocess.run([os.path.join(ADD_ON, "health")], env=self.environment).returncode


def deadline(condition, what, seconds=10):
    watch = Stopwatch()
    while not condition():
        require(watch.seconds() < seconds, f"not within {seconds} s: {what}")
        time.sleep(0.02)


@contextlib.contextmanager
def world(rig, **options):
    made = World(rig, **options)
    try:
        yield made
    finally:
        made.supervisor.stop()


def gesture_reaches_broker(rig):
    """From options that name only a tag to a gesture on the broker, with the supervisor's login; then a clean stop."""
    with world(rig, failures=1) as world_:
        gestures = world_.subscribe("jacquard/tag/0001/gesture")
        state = world_.subscribe("jacquard/bridge/attic/state")
        add_on = world_.add_on({"instance": "attic", "tags": [{"serial": "0001", "name": "Sleeve"}]})
        line = gestures.prints("event_type", 30)
        require('"bridge":"attic"' in line, line)
        require(state.prints("online").endswith(" online"), state.text)
        require(len(world_.supervisor.requests) == 2, f"requests: {world_.supervisor.requests}")
        arguments = subprocess.run(["ps", "-ewwo", "args"], capture_output=True, text=True).stdout
        for secret in (PASSWORD, TOKEN):
            require(secret not in arguments, "a secret is in the list of processes")
            require(secret not in add_on.text, "a secret is in the log")
        files = os.listdir(os.path.join(rig.folder, "run"))
        require(sorted(files) == ["config.yaml", "web.yaml"], f"left behind: {files}")
        for name in files:
            mode = os.stat(os.path.join(rig.folder, "run", name)).st_mode & 0o777
            require(mode == 0o600, f"{name} has the mode {mode:o}")
        if os.geteuid() == 0:
            with open(f"/proc/{add_on.process.pid}/status", encoding="utf-8") as file:
                status = file.read()
            require(re.search(r"^Uid:\s+65534\s", status, re.M), "another user than nobody")
            require(re.search(r"^CapBnd:\s+0+$", status, re.M), "capabilities are left")
            require(re.search(r"^NoNewPrivs:\s+1$", status, re.M), "new privileges are possible")
        require(world_.health() == 0, "not healthy")
        add_on.process.terminate()
        require(add_on.ends(8) == 0, f"ended with {add_on.process.returncode}")
        state.prints(" offline")
        deadline(lambda: not listens(world_.page_port), "the page ends with the bridge")
        require(world_.health() == 1, "healthy after the end")
        rig.say("$ kill the broker")
        world_.broker.stop()
        require(world_.health() == 0, "a missing broker is no reason for a restart")


def tags_survive_restart(rig):
    """The known tags are in /data, so a new container has them."""
    with world(rig) as world_:
        connected = world_.subscribe("jacquard/tag/0001/availability")
        state = world_.subscribe("jacquard/bridge/attic/state")
        first = world_.add_on({"instance": "attic"})
        state.prints(" online")
        request = subprocess.run(
            [rig.program("jacquard2mqtt"), "pair", "0001", "--config", os.path.join(rig.folder, "run", "config.yaml")],
            capture_output=True, text=True)
        require(request.returncode == 0, request.stdout + request.stderr)
        connected.prints(" online", 30)
        first.process.terminate()
        first.ends(8)
        shutil.rmtree(os.path.join(rig.folder, "run"))
        connected.lines.clear()
        world_.add_on({"instance": "attic"})
        connected.prints(" online", 30)


def page_is_in_ingress(rig):
    """The page in Home Assistant: the supervisor's proxy shows it and sends a command; every other address gets nothing."""
    if NETWORK:
        print(f"    not tried: {NETWORK}")
        return
    with world(rig) as world_:
        results = world_.subscribe("jacquard/tag/0001/led/result")
        state = world_.subscribe("jacquard/tag/0001/availability")
        add_on = world_.add_on({"instance": "attic", "tags": [{"serial": "0001"}]})
        state.prints(" online", 30)
        deadline(lambda: listens(world_.page_port), "the page listens")
        for headers in ({}, {"X-Ingress-Path": "/api/hassio_ingress/x"}):
            status = asked(world_.page_port, "GET", "/", None, headers)[0]
            require(status == 403, f"another address: {status}")
        proxy = Ingress(world_.page_port)
        try:
            origin = {"Origin": f"http://127.0.0.1:{proxy.port}"}
            path = proxy.path
            require(asked(proxy.port, "GET", f"{path}/")[0] == 200, "no page")
            status, headers, body = asked(proxy.port, "POST", f"{path}/login", {}, origin)
            require(status == 200, f"login: {status} {body}")
            session = {"Cookie": headers["Set-Cookie"].split(";")[0], "X-Token": json.loads(body)["token"]}
            require("frame-ancestors 'self'" in headers["Content-Security-Policy"], "Home Assistant may not show it")
            led = {"topic": "jacquard/tag/0001/led/set", "payload": {"color": "#ff0000", "duration_ms": 200}}
            deadline(lambda: asked(proxy.port, "POST", f"{path}/publish", led, {**origin, **session})[0] == 202, "a command")
            require('"status":"ok"' in results.prints('"final":true'), results.text)
            status = asked(proxy.port, "POST", f"{path}/publish", led, {**session, "Origin": "http://evil.example"})[0]
            require(status == 403, f"another origin: {status}")
        finally:
            proxy.stop()
        rig.say("$ kill the page")
        running = pages(add_on.process.pid)
        require(len(running) == 1, f"processes of the page: {running}")
        os.kill(running[0], signal.SIGKILL)
        deadline(lambda: not listens(world_.page_port), "the page has ended")
        deadline(lambda: listens(world_.page_port), "the page is started again", 20)
        require(world_.health() == 0, "the bridge has ended, too")


def asked(port, method, path, body=None, headers=None):
    """Sends a request; returns status, headers and body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    data = None if body is None else json.dumps(body)
    connection.request(method, path, data, {"Content-Type": "application/json", **(headers or {})})
    response = connection.getresponse()
    answer = response.status, dict(response.getheaders()), response.read()
    connection.close()
    return answer


def pages(add_on):
    """The processes of the page among the descendants of the add-on."""
    children, found = {}, []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{entry}/stat", encoding="utf-8") as file:
            name, _, rest = file.read().partition(") ")
            children.setdefault(int(rest.split()[1]), []).append((int(entry), name))
    rest = [add_on]
    while rest:
        for process, name in children.get(rest.pop(), []):
            rest.append(process)
            # The kernel keeps 15 characters of a name.
            if name.endswith("(jacquard2mqtt-w"):
                found.append(process)
    return found


def own_broker_needs_no_supervisor(rig):
    with world(rig) as world_:
        world_.supervisor.service = None
        options = {"instance": "attic", "mqtt": {
            "host": "127.0.0.1", "port": world_.port, "username": "addons", "password": PASSWORD}}
        state = world_.subscribe("jacquard/bridge/attic/state")
        world_.add_on(options)
        state.prints(" online")
        require(world_.supervisor.requests == [], f"requests: {world_.supervisor.requests}")


def mistakes_are_explained(rig):
    """Each error is one sentence that says what to do, and nothing is started."""
    with world(rig) as world_:
        def fails(options, sentence, **variables):
            add_on = world_.add_on(options, ATTEMPTS="1", **variables)
            require(add_on.ends() == 1, f"{options}: ended with {add_on.process.returncode}")
            require(re.search(sentence, add_on.text), f"{options}: {add_on.text}")
            require("jq:" not in add_on.text and "curl:" not in add_on.text, add_on.text)

        fails({"mqtt": {"port": 70000}}, r"mqtt\.port[\s\S]*correct the options as said above")
        fails({"tags": [{"serial": "0001", "prot": 1}]}, r"prot[\s\S]*correct the options")
        fails({}, r'the supervisor says "unauthorized"', SUPERVISOR_TOKEN="wrong")
        fails({}, r'no MQTT broker: the supervisor says "nothing"', SUPERVISOR="http://127.0.0.1:1")
        world_.supervisor.service = None
        fails({}, r'no MQTT broker: the supervisor says "Service not enabled"\. Install and start the app Mosquitto broker')
        fails([], r"not a JSON object")


CASES = [gesture_reaches_broker, page_is_in_ingress, tags_survive_restart, own_broker_needs_no_supervisor, mistakes_are_explained]
