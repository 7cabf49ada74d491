"""The page's metrics as Debian's Prometheus reads them, and as its promtool checks them."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import urllib.parse
import urllib.request

from ports import listens, take_port
from programs import Program, wait_for
from security import users_page
from stage import PROJECT, Client, require

OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TEXT = "text/plain; version=0.0.4; charset=utf-8"
# A name of the contract from before; the value is what the tag reports.
KNOWN = ["jacquard_tag_battery_percent use base unit \"ratio\" instead of \"percent\""]


def promtool(*words, text=None):
    """What promtool prints; its status is 0, or 3 for advice."""
    result = subprocess.run(["promtool", *words], input=text, capture_output=True, text=True)
    require(result.returncode in (0, 3), "promtool %s: %s" % (" ".join(words), result.stdout + result.stderr))
    return result.stdout + result.stderr


def check_metrics(text, what):
    advice = promtool("check", "metrics", text=text).splitlines()
    require(set(advice) <= set(KNOWN), "%s: promtool check metrics: %s" % (what, advice))


def gesture(run):
    """A command to the tag 0001, which waits until the tag is connected, and a gesture."""
    stage = run.stage
    command(run, "led", "0001", "red")
    stage.gesture("0001", "double_tap")


@contextlib.contextmanager
def reactions(run):
    """Adds a chord and a reflex to the configuration of the bridge, and makes the chord; removes both at the end."""
    stage = run.stage
    with open(stage.config, encoding="utf-8") as file:
        before = file.read()

    def configure(text, has_chord):
        stage.write("bridge.yaml", text)
        stage.bridge.process.send_signal(signal.SIGHUP)
        wait_for("the bridge reads its configuration", lambda: has_chord == ("tap_in" in stage.retained("jacquard/tag/0001/info")))

    configure(before + "chords: [{name: tap_in, of: [double_tap, brush_in], within_ms: 5000}]\nreflexes: [{on: tap_in, do: led red}]\n", True)
    try:
        # A bridge that was restarted while a tag was connected has not seen its signal yet.
        for word, state in ("out-of-range", "offline"), ("in-range", "online"):
            stage.simulator.type(word + " 0001")
            wait_for("the tag is " + state, lambda: stage.retained("jacquard/tag/0001/availability") == state)
        gesture(run)
        stage.gesture("0001", "brush_in")
        yield
    finally:
        configure(before, False)


def command(run, *words):
    stage = run.stage
    return subprocess.run(
        [stage.program("jacquard2mqtt"), *words, "--config", stage.config], check=True, capture_output=True, text=True).stdout


def value(text, name):
    """The value of a sample; None without one."""
    found = re.search(r"^%s (\S+)$" % re.escape(name), text, re.M)
    return found and float(found.group(1))


def metrics_text(run):
    """GET metrics without users: both formats, HEAD, and what promtool says about them and about the command."""
    stage, port = run.stage, take_port()
    stage.start_web("metrics: true\n", port)
    gesture(run)
    client = Client(port)

    def counted():
        status, _, body = client.request("GET", "/metrics")
        return status == 200 and value(body.decode(), "jacquard_bridge_gesture_seconds_count")

    wait_for("a gesture is counted", counted)
    status, headers, body = client.request("GET", "/metrics?bridge=attic")
    require((status, headers["Content-Type"]) == (200, TEXT), "GET: %s %s" % (status, headers))
    text = body.decode()
    check_metrics(text, "the page")
    for name in "gesture_seconds_count", 'command_seconds_count{status="ok"}', "connect_seconds_count":
        require(value(text, "jacquard_bridge_" + name) >= 1, "%s: %s" % (name, text))
    printed = command(run, "metrics")
    check_metrics(printed, "jacquard2mqtt metrics")
    families = lambda lines: re.findall(r"^# TYPE .*$", lines, re.M)
    require(families(printed) == families(text), "the command and the page have other metrics")
    status, headers, body = client.request("GET", "/metrics", headers={"Accept": "application/openmetrics-text;version=1.0.0"})
    require((status, headers["Content-Type"]) == (200, OPEN), "OpenMetrics: %s %s" % (status, headers))
    require(body.endswith(b"\n# EOF\n") and b"# TYPE jacquard_tag_reconnects counter\n" in body, body.decode())
    status, headers, body = client.request("HEAD", "/metrics")
    require((status, headers["Content-Type"], body) == (200, TEXT, b""), "HEAD: %s %s" % (status, headers))
    require(int(headers["Content-Length"]) > 1000, "HEAD: %s" % headers)


def metrics_socket(run):
    """The metrics on a Unix socket as curl reads them: its mode, an old file, and what is refused at start and on the socket."""
    stage, port = run.stage, take_port()
    path = os.path.join(stage.folder, "metrics.sock")
    # What a page that was killed has left behind.
    with socket.socket(socket.AF_UNIX) as old:
        old.bind(path)
    settings = "metrics_socket: %s\nmetrics_socket_group: %d\n" % (path, os.getgid())
    page = stage.start_web(settings, port)
    require(os.stat(path).st_mode & 0o777 == 0o660, "mode %o" % os.stat(path).st_mode)
    gesture(run)

    def curl(*words):
        """The status and the body."""
        result = subprocess.run(
            ["curl", "--silent", "--max-time", "15", "--unix-socket", path, "--write-out", "\\n%{http_code}", *words],
            check=True, capture_output=True, text=True)
        body, _, status = result.stdout.rpartition("\n")
        return int(status), body

    wait_for("metrics on the socket", lambda: curl("http://localhost/metrics")[0] == 200)
    text = curl("http://localhost/metrics?bridge=attic")[1]
    check_metrics(text, "the socket")
    require(value(text, "jacquard_bridge_gesture_seconds_count") >= 1, text)
    opened = curl("--header", "Accept: application/openmetrics-text;version=1.0.0", "http://localhost/metrics")[1]
    require(opened.endswith("\n# EOF\n"), opened)
    for status, words in (
        (404, ["http://localhost/"]), (404, ["http://localhost/session"]), (404, ["http://localhost/metrics?bridge=x"]),
        (405, ["--data", "{}", "http://localhost/metrics"]), (404, ["--data", "{}", "http://localhost/publish"]),
    ):
        require(curl(*words)[0] == status, "%s: %s" % (words, curl(*words)))
    require(Client(port).request("GET", "/metrics")[0] == 404, "the address has metrics, too")

    with open(os.path.join(stage.folder, "file"), "w", encoding="utf-8"):
        pass
    for other, part in (
        (path, "is in use by another process"), (os.path.join(stage.folder, "file"), "exists and is not a socket"),
        (os.path.join(stage.folder, "none", "s"), "its folder must exist"), ("/" + "s" * 107, "at most 107 bytes"),
    ):
        refused = stage.write("refused-socket.yaml", "port: 0\nmetrics_socket: %s\n" % other)
        result = subprocess.run(
            [stage.program("jacquard2mqtt-web"), "run", "--config", stage.config, "--web", refused, "--runtime", page.runtime + "-2"],
            capture_output=True, text=True, timeout=10)
        require(result.returncode == 2 and part in result.stderr, "%s: %s" % (other, result.stderr))
    require(os.path.exists(os.path.join(stage.folder, "file")), "a file was removed")
    require(curl("http://localhost/metrics")[0] == 200, "the socket has gone")
    page.stop()
    require(not os.path.exists(path), "the file is left")


def textfile(run):
    """node_exporter reads the text from a file and returns the same samples."""
    stage, port = run.stage, take_port()
    gesture(run)
    folder = os.path.join(stage.folder, "textfile")
    os.mkdir(folder)
    text = command(run, "metrics")
    with open(os.path.join(folder, "jacquard2mqtt.prom"), "w", encoding="utf-8") as file:
        file.write(text)
    exporter = stage.add(Program(stage.folder, "node-exporter", [
        "prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile", "--collector.textfile.directory", folder,
        "--web.listen-address", "127.0.0.1:%d" % port]))
    try:
        wait_for("node_exporter listens", lambda: listens(port))
        with urllib.request.urlopen("http://127.0.0.1:%d/metrics" % port, timeout=10) as answer:
            exported = answer.read().decode()
    finally:
        exporter.stop()
    require(value(exported, "node_textfile_scrape_error") == 0, "node_exporter does not accept the file:\n" + text)

    def samples(lines):
        """The values by name and labels. node_exporter sorts the labels, and writes the limit 1.0 as 1."""
        found = re.findall(r"^(jacquard_\w+)(?:\{(.*)\})? (\S+)$", lines, re.M)
        return {(name, frozenset(re.sub(r"\.0\"", '"', labels).split(","))): float(number) for name, labels, number in found}

    require(len(samples(text)) > 60 and samples(exported) == samples(text), "other samples: %s" % (
        set(samples(text).items()) ^ set(samples(exported).items())))


def prometheus(run):
    """Debian's Prometheus with config/prometheus/page.yaml reads the page as a user of it: the bridge is up, has its histograms, and
    the panels of the dashboard have values."""
    stage = run.stage
    page, _ = users_page(stage, "metrics: true\n")
    with reactions(run):
        scrape(stage, page)


def scrape(stage, page):
    """Starts Prometheus, and queries what it has read from the page."""
    password = stage.write("prometheus-password", "right\n")
    with open(PROJECT / "config" / "prometheus" / "page.yaml", encoding="utf-8") as file:
        text = file.read()
    promtool("check", "config", str(PROJECT / "config" / "prometheus" / "page.yaml"))
    rules = str(PROJECT / "config" / "prometheus" / "jacquard.rules.yaml")
    for old, new in (
        ("scrape_interval: 30s", "scrape_interval: 1s"), ("[attic, hall]", "[attic]"), ("jacquard.rules.yaml", rules),
        ("127.0.0.1:8377", "127.0.0.1:%d" % page), ("# basic_auth:", "basic_auth:"), ("#   username: prometheus", "  username: viewer"),
        ("#   password_file: /etc/prometheus/page-password", "  password_file: " + password),
    ):
        require(text.count(old) == 1, "page.yaml has %d times %s" % (text.count(old), old))
        text = text.replace(old, new)
    config = stage.write("prometheus.yml", text)
    promtool("check", "config", config)
    port = take_port()
    server = stage.add(Program(stage.folder, "prometheus", [
        "prometheus", "--config.file", config, "--storage.tsdb.path", os.path.join(stage.folder, "tsdb"),
        "--web.listen-address", "127.0.0.1:%d" % port]))

    def query(expression):
        address = "http://127.0.0.1:%d/api/v1/query?%s" % (port, urllib.parse.urlencode({"query": expression}))
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                return json.load(answer)["data"]["result"]
        except OSError:
            return []

    def number(expression):
        result = query(expression)
        return float(result[0]["value"][1]) if result else None

    try:
        wait_for("Prometheus reads the bridge", lambda: number('up{job="jacquard",instance="attic"}') == 1, 60)
        bucket = 'jacquard_bridge_gesture_seconds_bucket{instance="attic",le="+Inf"}'
        wait_for("a bucket", lambda: (number(bucket) or 0) >= 1, 30)
        require(number('jacquard_bridge_info{instance="attic"}') == 1, "no info")
        for counter in bucket, "jacquard_tag_chords_total", "jacquard_bridge_reflexes_total":
            wait_for("rates", lambda: (number("count_over_time(%s[1m])" % counter) or 0) >= 3, 30)
        with open(PROJECT / "deploy" / "grafana-dashboard.json", encoding="utf-8") as file:
            panels = json.load(file)["panels"]
        for panel in panels:
            for target in panel["targets"]:
                # No problems and no metrics file here.
                expression = target["expr"].replace("$instance", ".*")
                require(query(expression), "the panel %s has no value: %s" % (panel["title"], expression))
    except (TimeoutError, KeyError) as error:
        with urllib.request.urlopen("http://127.0.0.1:%d/api/v1/targets" % port, timeout=10) as answer:
            raise TimeoutError("%s: %s" % (error, answer.read().decode())) from error
    else:
        print("  %d scrapes, %.1f ms each" % (number('count_over_time(up{job="jacquard"}[1m])'), 1000 * number('avg_over_time(scrape_duration_seconds[1m])')))
    finally:
        server.stop()


CASES = [metrics_text, metrics_socket, textfile, prometheus]
