"""The guides for Debian, in the order in which a new owner of a tag reads them: the README on one machine, the others on another."""
from machine import HOME, USER

DAEMON = "Sources/Programs/Daemon/Documentation.docc"
TREE = HOME / "jacquard2mqtt"
DOWNLOADED = "the package was built before, and downloaded"


def give_adapter(machine):
    """BlueZ with an adapter and the tag 003R in range, which sleeps and asks for pairing; commands to it go through a FIFO."""
    machine.administer(
        "systemctl mask --quiet --runtime bluetooth.service; mkfifo /run/simulator; "
        "systemd-run --quiet --unit=simulator sh -c 'exec jacquard-simulator --bus unix:path=/run/dbus/system_bus_socket "
        "--serials 003R --pairing <> /run/simulator'; sleep 1; echo sleep 003R > /run/simulator")


def tag_does(machine, command):
    machine.administer(f"echo '{command}' > /run/simulator")


def raspberry_pi(machine, guide):
    guide.leaves_out("./deploy/package", DOWNLOADED)
    guide.runs("sudo apt update")
    give_adapter(machine)
    guide.runs("sudo adduser")
    guide.runs("bluetoothctl show", prints="Powered: yes")
    # A container has no such device: the program is there.
    guide.runs("sudo rfkill", prints="cannot open /dev/rfkill", status=1)
    guide.edits("sudo editor", "mqtt:")
    guide.waits("the service starts when the file is saved", "systemctl is-active jacquard2mqtt")
    guide.waits("the service is started at boot", "systemctl is-enabled jacquard2mqtt")
    guide.runs("jacquard2mqtt status", prints=["online", "ok       bridge"])


def first_tag(machine, guide):
    tag_does(machine, "button 003R")
    guide.runs("jacquard2mqtt scan", prints="003R")
    guide.runs("jacquard2mqtt pair", prints="003R is paired")
    guide.runs("jacquard2mqtt status", prints="connected")
    guide.runs("jacquard2mqtt led")
    # Two gestures a second for half an hour.
    tag_does(machine, "gesture 003R cycle 3600 2")
    guide.runs("mosquitto_sub -t", until='"event_type":"brush_in"')
    machine.administer("systemd-run --quiet --collect sh -c 'exec mosquitto_sub -t zigbee2mqtt/lamp/set > /run/lamp'")
    guide.runs("mosquitto_sub -t", until=lambda *_: "TOGGLE" in machine.administer("cat /run/lamp"))


def readme(machine, guide):
    """On a machine of its own, which has nothing but the sources and the packages where `deploy/package` puts them."""
    guide.folder = TREE
    machine.administer(f"mkdir -p {TREE}/.build/package && cp {HOME}/*.deb {TREE}/.build/package && chown -R {USER}: {TREE}/.build")
    guide.leaves_out("  woven lines", "a picture")
    guide.leaves_out("./deploy/quickstart --simulated", "needs Swift; the rig Quickstart runs it")
    guide.leaves_out("./deploy/package", DOWNLOADED)
    guide.runs("sudo apt install")
    give_adapter(machine)
    guide.edits("sudo editor", "mqtt:")
    guide.waits("the service starts when the file is saved", "systemctl is-active jacquard2mqtt")
    guide.waits("the bridge is online", "jacquard2mqtt status")
    tag_does(machine, "button 003R")
    guide.runs("jacquard2mqtt pair", prints=["003R is paired", "connected"])
    # Two gestures a second for half an hour.
    tag_does(machine, "gesture 003R cycle 3600 2")
    for command in "$ mosquitto_sub -t", "$ mosquitto_sub -t 'jacquard/tag/+/led", "$ mosquitto_sub -v":
        guide.tries(command, {})
    guide.runs("sudo jacquard2mqtt doctor", prints=["ok       bridge", "http://127.0.0.1:8377/#key="])


# What the owner does when the checkup asks for it: an answer, or a command to the simulated tag.
OWNER = {
    "light up": "y", "vibrate?": "y", "Move a finger": "touch 003R 100 30", "towards yourself": "gesture 003R brush_in",
    "away from yourself": "gesture 003R brush_out", "Tap the woven": "gesture 003R double_tap", "Cover": "gesture 003R cover",
    "out of its gear": "detach 003R", "Put the tag into": "attach 003R jacket", "to its charger": "battery 003R 88 charging",
    "then move it": "button 003R",
}


def first_contact(machine, guide):
    asked = dict(OWNER)

    def owner(output, keyboard):
        for question in [question for question in asked if question in output]:
            action = asked.pop(question)
            if action == "y":
                keyboard.write("y\n")
            else:
                tag_does(machine, action)

    guide.runs("jacquard2mqtt checkup", prints=["FEATURE", "tag information"], until=owner, status=None)
    guide.leaves_out("FEATURE", "the table that the command prints")
    guide.waits("the report", f"grep -q '\"format\":\"jacquard-gatt\"' {HOME}/tag.txt")
    guide.waits("the tag is connected again", "jacquard2mqtt status | grep 003R | grep connected")
    guide.runs("jacquard2mqtt record-traffic", prints="records")
    guide.leaves_out('{"format"', "the file that the command has written")
    recorded = machine.administer(f"cat {HOME}/tag.jsonl")
    for event in '"format":"jacquard-gatt","version":1', '"event":"connected"', '"event":"mtu"', '"event":"write"':
        guide.requires(event in recorded, f"tag.jsonl has no {event}")
    guide.runs("jacquard-simulator --replay-traffic", until="ready")


def troubleshooting(machine, guide):
    guide.runs("sudo jacquard2mqtt doctor", prints=["ok       bridge", '"'])
    guide.runs("jacquard2mqtt why")

    def gear(output, _):
        if '"tag":"003R"' in output:
            return True
        tag_does(machine, "detach 003R")
        tag_does(machine, "attach 003R jacket")

    guide.runs("mosquitto_pub", until=gear, prints="gear attached")
    guide.runs("jacquard2mqtt explain", values={"1042": "1"}, status=None)


def security(machine, guide):
    """The broker gets the users and rules of config/mosquitto, as mosquitto.conf says; the bridge a login."""
    guide.folder = TREE
    guide.leaves_out("mqtt:", "the broker of this machine needs no encryption")
    users = {"bridge": "hall", "dashboard": "grafana", "admin": "admin"}
    for role, user in users.items():
        rules = machine.administer(f"jacquard2mqtt acl mosquitto --role {role} --user {user}")
        machine.administer(f"cat >> /etc/mosquitto/acl.conf << 'END'\n{rules}\nEND")
    machine.administer(
        "touch /etc/mosquitto/passwd; for user in hall grafana admin; do mosquitto_passwd -b /etc/mosquitto/passwd $user secret; done; "
        "chown mosquitto: /etc/mosquitto/passwd /etc/mosquitto/acl.conf; chmod 600 /etc/mosquitto/passwd /etc/mosquitto/acl.conf; "
        "printf '%s\\n' 'listener 1883 127.0.0.1' 'password_file /etc/mosquitto/passwd' 'acl_file /etc/mosquitto/acl.conf' "
        "> /etc/mosquitto/conf.d/jacquard.conf; systemctl restart mosquitto")
    logins = guide.next("bridge hall").text.replace("PASSWORD", "secret")
    machine.write(f"{TREE}/logins.txt", logins + "\n")
    guide.runs("jacquard2mqtt acl try", prints=["bridge, user hall", "dashboard, user grafana", " 0 differ"])


def dashboards(machine, guide):
    guide.folder = TREE
    guide.runs("sudo apt install prometheus")
    machine.administer(f"cp {TREE}/config/prometheus/jacquard.rules.yaml /etc/prometheus/")
    lines = guide.next("rule_files:").text
    configuration = machine.administer("cat /etc/prometheus/prometheus.yml")
    guide.requires("localhost:9100" in configuration, "Debian's configuration does not read node_exporter")
    machine.administer("sed -i '/^rule_files:/,/^scrape_configs:/{/^scrape_configs:/!d}' /etc/prometheus/prometheus.yml")
    machine.administer(f"cat >> /etc/prometheus/prometheus.yml << 'END'\n{lines}\nEND")
    guide.waits("Prometheus is ready", "curl -sf localhost:9090/-/ready")
    guide.runs("promtool check config", prints="SUCCESS")
    guide.waits("the alerts", "curl -s localhost:9090/api/v1/rules | grep -i jacquard")
    guide.leaves_out("jacquard2mqtt-web password", "this Prometheus reads the file")
    guide.leaves_out("scheme: https", "as above")
    guide.leaves_out("telegraf --config", "Debian has no Telegraf")
    guide.leaves_out("jacquard_battery", "Telegraf's output")
    guide.leaves_out("[[inputs.prometheus]]", "Debian has no Telegraf")
    guide.leaves_out("curl -s localhost:9273", "Debian has no Telegraf")


def web_page(machine, guide):
    guide.leaves_out("jacquard2mqtt-web run", "the service does it")
    guide.runs("sudo apt install", prints="http://127.0.0.1:8377/#key=", values={"<version>": machine.version})
    guide.waits("the page", "curl -sf http://127.0.0.1:8377/ | grep -q '<title>'")
    # As Operations says for a broker with users.
    machine.write("/etc/jacquard2mqtt/config.yaml", "mqtt:\n  host: 127.0.0.1\n  username: hall\n  password_file: password\n")
    machine.administer("cd /etc/jacquard2mqtt && printf secret | tee password > web-password && chmod 600 password")
    machine.administer("systemctl restart jacquard2mqtt")
    lines = guide.next("sudo systemctl edit jacquard2mqtt-web")
    guide.enters("\n".join(line.removeprefix("# ") for line in lines.text.split("\n") if line.startswith("# ")))
    guide.runs(lines, terminal=True)
    guide.waits("the page is logged in", "grep admin /var/log/mosquitto/mosquitto.log | grep 'New client connected'")
    guide.leaves_out("sudo systemctl edit jacquard2mqtt-web.socket", "an address that this machine does not have")
    guide.leaves_out("address: 0.0.0.0", "as above")
    guide.leaves_out("location /jacquard/", "there is no nginx")
    guide.leaves_out("curl -u prometheus", "the page has no users here")
    guide.runs("sudo systemctl stop jacquard2mqtt-web")
    guide.waits("metrics on the Unix socket", "curl -s --unix-socket /run/jacquard2mqtt-metrics.sock http://localhost/metrics | grep jacquard_bridge_info")
    guide.leaves_out("sudo systemctl edit jacquard2mqtt-web-metrics.socket", "there is no such group here")


def operations(machine, guide):
    """After `security`: the broker accepts the bridge with a password only."""
    configuration = "/etc/jacquard2mqtt/config.yaml"
    restart = "systemctl restart jacquard2mqtt"
    guide.edits("sudo editor", entered=(
        "mqtt:\n  host: 127.0.0.1\n  username: hall\n  password_file: password\ntags:\n  - serial: 003R\n    name: Left sleeve"))

    def password(_, keyboard):
        if not keyboard.closed:
            keyboard.write("secret\n")
            keyboard.close()

    guide.runs("sudo install -m 600", until=password)
    machine.administer(restart)
    guide.waits("the bridge is online", "jacquard2mqtt status")
    guide.runs("sudo jacquard2mqtt check-config", prints=["active (running)", "ok       login"])
    guide.runs("sudo apt install", values={"<version>": machine.version})
    remove = guide.next("sudo systemctl stop")
    guide.adds("gear:", configuration)
    machine.write(configuration, machine.administer(f"cat {configuration}") + "groups:\n  - name: hall\n    tags: [003R]\n")
    machine.administer("systemctl reload jacquard2mqtt")
    guide.waits("the group", "jacquard2mqtt led hall off")
    guide.runs("jacquard2mqtt led", values={"0001,0002": "003R", "jacquard2mqtt": "sudo jacquard2mqtt"}, prints="003R: LED")
    guide.leaves_out("0001: LED is", "with a second tag")
    guide.runs("sudo journalctl", until="connected")
    guide.adds("metrics:", configuration)
    guide.enters("[Service]\nReadWritePaths=/var/lib/prometheus/node-exporter")
    guide.runs("sudo install -d", terminal=True)
    machine.administer(restart)
    file = "/var/lib/prometheus/node-exporter/jacquard2mqtt.prom"
    guide.waits("the metrics", f"grep -q jacquard_bridge_info {file} && promtool check metrics < {file}")
    guide.waits("Prometheus reads them", "curl -s 'localhost:9090/api/v1/query?query=jacquard_bridge_info' | grep -q attic", 120)
    for expression in guide.next("sum(rate(jacquard_bridge_gesture_seconds").text.split("\n"):
        machine.administer(f"promtool query instant http://localhost:9090 '{expression}'")
    guide.runs(remove)
    machine.administer("apt-get purge -y jacquard2mqtt-web 2> /dev/null || true")
    guide.requires(not machine.administer("getent passwd jacquard2mqtt || true"), "the user is left")

# In this order, on one machine.
GUIDES = {
    raspberry_pi: f"{DAEMON}/RaspberryPi.md",
    first_tag: f"{DAEMON}/FirstTag.md",
    first_contact: f"{DAEMON}/FirstContact.md",
    troubleshooting: f"{DAEMON}/Troubleshooting.md",
    security: f"{DAEMON}/Security.md",
    dashboards: f"{DAEMON}/Dashboards.md",
    web_page: "Sources/Web/Web/Documentation.docc/WebPage.md",
    operations: f"{DAEMON}/Operations.md",
}
# They install the bridge and pair a tag.
NEEDED = [raspberry_pi, first_tag]
# On a machine of its own.
README = {readme: "README.md"}
