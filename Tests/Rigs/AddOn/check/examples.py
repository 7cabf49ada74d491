"""The files for other programs, against the topics and payloads of a running bridge."""
import json
import os
import re
import shutil
import subprocess
import tomllib

import yaml
from running import deadline, world
from tools import PROJECT, read, require

EXAMPLE_TAG = "003R"


def matches(pattern, topic):
    """Whether a topic filter matches a topic."""
    expression = re.escape(pattern).replace(r"\+", "[^/]+").replace(r"/\#", "(/.*)?")
    return re.fullmatch(expression, topic) is not None


def node_red():
    """The received and the sent topics of the flow, with what it sends to them."""
    nodes = json.loads(read("config/node-red/flow.json"))
    by_id = {node["id"]: node for node in nodes}
    require(len(by_id) == len(nodes), "flow.json: an id occurs twice")
    received, sent = set(), {}
    for node in nodes:
        require({"id", "type"} <= set(node), f"flow.json: {node}")
        if node["type"] in ("tab", "mqtt-broker"):
            require("credentials" not in node, "flow.json: a password")
            continue
        require(by_id[node["z"]]["type"] == "tab", f"flow.json: {node['id']} is in no flow")
        require({"x", "y", "wires", "name"} <= set(node), f"flow.json: {node['id']} is not complete")
        for output in node["wires"]:
            for target in output:
                require(target in by_id, f"flow.json: {node['id']} leads to {target}, which does not exist")
        if node["type"] == "switch":
            require(len(node["wires"]) == len(node["rules"]) == node["outputs"], f"flow.json: outputs of {node['id']}")
        if node["type"].startswith("mqtt "):
            require(by_id[node["broker"]]["type"] == "mqtt-broker", f"flow.json: {node['id']} has no broker")
            require(node["qos"] == "1", f"flow.json: {node['id']} has not QoS 1")
        if node["type"] == "mqtt in":
            received.add(node["topic"])
        if node["type"] == "mqtt out":
            require(node["retain"] == "false", f"flow.json: {node['id']} retains a command")
            sources = [source for source in nodes if any(node["id"] in output for output in source.get("wires", []))]
            require(sources, f"flow.json: nothing leads to {node['id']}")
            sent[node["topic"]] = sources[0]["rules"][0]["to"]
    return received, sent


def openhab():
    """The received topics with the path of the value in them, and the sent topics."""
    things, items = read("config/openhab/jacquard.things"), read("config/openhab/jacquard.items")
    for opening, closing in ("[]", "{}"):
        require(things.count(opening) == things.count(closing), f"jacquard.things: {opening}{closing}")
    received, sent, channels = {"jacquard/tag/003R/availability": None}, {}, {}
    for kind, name, parameters in re.findall(r'Type (\w+) : (\w+) "[^"]+" \[ (.*) \]', things):
        require(kind in ("trigger", "number", "switch", "string"), f"jacquard.things: type {kind}")
        channels[name] = kind
        settings = dict(re.findall(r'(\w+)="?([^",]+)"?', parameters))
        if topic := settings.get("stateTopic"):
            path = settings.get("transformationPattern", "")
            require(not path or path.startswith("JSONPATH:$."), f"jacquard.things: {path}")
            received[topic] = path.removeprefix("JSONPATH:$.") or None
        if topic := settings.get("commandTopic"):
            require(settings["retained"] == "false" and settings["qos"] == "1", f"jacquard.things: {name}")
            sent[topic] = {"led": "flash", "vibrate": "short"}[name]
    for kind, channel in re.findall(r'^(\w+) Jacquard_\w+ .*channel="mqtt:topic:home:sleeve:(\w+)"', items, re.M):
        require(channels.get(channel) == kind.lower(), f"jacquard.items: {channel} is not a {kind}")
    return received, sent


TELEGRAF = ("config/telegraf.conf", "config/telegraf-fleet.conf")


def telegraf():
    """The received topics, each with a key that is read; None for a word."""
    received = {}
    for name in TELEGRAF:
        for consumer in tomllib.loads(read(name))["inputs"]["mqtt_consumer"]:
            keys = [field["path"] for part in consumer.get("json_v2", []) for field in part["field"]]
            require(keys or consumer["data_format"] == "value", f"{name}: {consumer['topics']} has no fields")
            received.update({topic: keys or None for topic in consumer["topics"]})
            for parsing in consumer["topic_parsing"]:
                require(parsing["topic"] in consumer["topics"], f"{name}: {parsing['topic']} is not subscribed")
                require(
                    len(parsing["tags"].split("/")) == len(parsing["topic"].split("/")), f"{name}: {parsing['tags']}")
    return received


def fleet_metrics():
    """The metrics that Telegraf offers to Prometheus with telegraf-fleet.conf: measurement and field."""
    configuration = tomllib.loads(read("config/telegraf-fleet.conf"))
    words = {
        mapping["field"]: mapping["dest"] for part in configuration["processors"]["enum"] for mapping in part["mapping"]}
    metrics = set()
    for consumer in configuration["inputs"]["mqtt_consumer"]:
        fields = [field["path"] for part in consumer.get("json_v2", []) for field in part["field"]] or ["value"]
        metrics.update(f"{consumer['name_override']}_{words.get(field, field)}" for field in fields)
    return metrics


def examples_work_with_a_bridge(rig):
    """Each topic that Node-RED, openHAB and Telegraf receive is published, with the keys that they read; each command that they send
    gets the result `ok`."""
    received, sent = openhab()
    for more in {topic: None for topic in node_red()[0]}, telegraf():
        received.update({topic: path for topic, path in more.items() if not received.get(topic)})
    sent.update(node_red()[1])
    with world(rig) as world_:
        client = world_.subscribe("jacquard/#", "-q", "1")
        add_on = world_.add_on({"instance": "attic", "tags": [{"serial": "0001", "id": EXAMPLE_TAG}]})
        add_on.prints("connected")
        client.prints(f"tag/{EXAMPLE_TAG}/availability online", 30)
        for topic, payload in sent.items():
            before = len(client.lines)
            subprocess.run(
                ["mosquitto_pub", "-h", "127.0.0.1", "-p", str(world_.port), "-u", "reader", "-P", "reader", "-q", "1", "-t",
                 topic, "-m", payload], check=True)
            result = topic.removesuffix("/set") + "/result "
            deadline(lambda: any(line.startswith(result) for line in client.lines[before:]), f"a result of {topic}")
            line = next(line for line in client.lines[before:] if line.startswith(result))
            require('"status":"ok"' in line, f"{topic} {payload}: {line}")

        def message(pattern):
            return next((line.split(" ", 1)[1] for line in client.lines if matches(pattern, line.split(" ", 1)[0])), None)

        for topic, path in received.items():
            deadline(lambda: message(topic) is not None, f"a message at {topic}", 20)
            for key in [path] if isinstance(path, str) else path or []:
                require(key in json.loads(message(topic)), f"{topic} has no {key}: {message(topic)}")


def alerts_use_known_metrics(rig):
    """The alerts and the dashboard of the fleet have names of metrics that the bridge, node_exporter or Telegraf writes; promtool
    accepts the files, and the alerts of the fleet fire as expected, if it is installed."""
    documented = set(re.findall(r"jacquard_\w+", read("Sources/Programs/Daemon/Documentation.docc/Operations.md")))
    for name, known in ("jacquard.rules.yaml", documented), ("fleet.rules.yaml", fleet_metrics()):
        rules = [rule for group in yaml.safe_load(read(f"config/prometheus/{name}"))["groups"] for rule in group["rules"]]
        require(rules, f"{name}: no alerts")
        for rule in rules:
            require(rule["annotations"]["summary"], f"{rule['alert']}: no summary")
            unknown = set(re.findall(r"jacquard_\w+", rule["expr"])) - known
            require(not unknown, f"{rule['alert']}: unknown metrics {unknown}")
    used = {
        metric for panel in json.loads(read("config/grafana/fleet.json"))["panels"] for target in panel["targets"]
        for metric in re.findall(r"jacquard_\w+", target["expr"])}
    require(used and used <= fleet_metrics(), f"config/grafana/fleet.json: unknown metrics {used - fleet_metrics()}")
    if promtool := shutil.which("promtool"):
        for words in (
                ["check", "rules", "config/prometheus/jacquard.rules.yaml"], ["check", "config", "config/prometheus/fleet.yaml"],
                ["check", "config", "config/prometheus/page.yaml"],
                ["test", "rules", "Tests/Rigs/Fleet/fleet.rules.test.yaml"]):
            result = subprocess.run([promtool, *words], cwd=PROJECT, capture_output=True, text=True)
            require(result.returncode == 0, result.stdout + result.stderr)


def cluster_files_are_valid(rig):
    """The bridge accepts each bridge.yaml of config/clusters, whose nodes the broker's files name; JSON and YAML can be read."""
    folder = os.path.join(PROJECT, "config", "clusters")
    for kind in sorted(os.listdir(folder)):
        files = {name: read(folder, kind, name) for name in os.listdir(os.path.join(folder, kind))}
        bridge = files.pop("bridge.yaml")
        nodes = [host.split(":")[0] for host in yaml.safe_load(bridge)["mqtt"]["hosts"]]
        # North is named by the others.
        require(nodes[0].split(".")[0] in "".join(files.values()), f"{kind}: no file has {nodes[0]}")
        for name, text in files.items():
            if name.endswith(".json"):
                json.loads(text)
            elif name.endswith(".yml"):
                yaml.safe_load(text)
        paths = {name: os.path.join(rig.folder, name) for name in ("bridge.yaml", "password", "ca.pem")}
        for name, text in ("bridge.yaml", bridge.replace("/etc/jacquard2mqtt/ca.pem", paths["ca.pem"])), ("password", "secret\n"):
            with open(paths[name], "w", encoding="utf-8") as file:
                file.write(text)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=ca",
             "-keyout", os.devnull, "-out", paths["ca.pem"]], check=True, capture_output=True)
        result = subprocess.run(
            [os.path.join(rig.programs, "jacquard2mqtt"), "check-config", "--config", paths["bridge.yaml"]],
            capture_output=True, text=True)
        require(result.returncode == 0, f"{kind}: {result.stdout}{result.stderr}")


def compose_takes_no_rights(rig):
    """Each container of compose.yaml is read-only, has no capabilities and its own user, and mounts files that exist."""
    compose = yaml.safe_load(read("deploy/compose.yaml"))
    article = read("Sources/Programs/Daemon/Documentation.docc/Containers.md")
    for name, service in compose["services"].items():
        require(service["read_only"] is True and service["cap_drop"] == ["ALL"], f"{name}: rights")
        require("no-new-privileges:true" in service["security_opt"], f"{name}: new privileges")
        require(not service["user"].startswith("0"), f"{name}: root")
        require(service["mem_limit"] and service["pids_limit"] and service["healthcheck"]["test"], f"{name}: limits")
        for right in ("privileged", "devices", "cap_add", "pid", "ipc"):
            require(right not in service, f"{name}: {right}")
        # The page is served on the host's loopback address only.
        require(service.get("network_mode") == ("host" if name == "web" else None), f"{name}: network_mode")
        for port in service.get("ports", []):
            require(port.startswith("127.0.0.1:"), f"{name}: {port} is open to other hosts")
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            if source.startswith("./"):
                require(re.search(rf"\b{re.escape(source[2:])}\b", article), f"{source} is not in the article Containers")
                require(volume.endswith(":ro"), f"{name}: {volume} is writable")
            elif not source.startswith("/"):
                require(source in compose["volumes"], f"{name}: {source} is not a volume")


def workflows_use_scripts(rig):
    """Each script that a workflow runs exists and can be executed."""
    folder = os.path.join(PROJECT, ".github", "workflows")
    found = set()
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            workflow = yaml.safe_load(file)
        for job in workflow["jobs"].values():
            if used := job.get("uses"):
                require(os.path.exists(os.path.join(PROJECT, used)), f"{name}: {used}")
            for step in job.get("steps", []):
                require(("uses" in step) != ("run" in step), f"{name}: {step}")
                require("run" not in step or step.get("name"), f"{name}: a step without a name")
                found |= set(re.findall(r"(?<![\w/.])(?:deploy|Tests)/[\w-]+", step.get("run", "")))
    require(found, "no scripts")
    for script in found:
        require(os.access(os.path.join(PROJECT, script), os.X_OK), f"{script} cannot be executed")


CASES = [
    alerts_use_known_metrics, cluster_files_are_valid, compose_takes_no_rights, workflows_use_scripts, examples_work_with_a_bridge,
]
