"""Brokers that are slow, end or have no bridge: the page does not say that there is no tag before it knows that, and has the user's time."""

from __future__ import annotations

import contextlib
import os
import queue
import re
import socket
import threading
import time

from ports import take_port
from programs import Mosquitto
from stage import require

# What the page must not say before the tags have come.
WRONG = """window.wrong = null;
new MutationObserver(() => { if (/No tag is known|No bridge/.test(document.body?.innerText)) window.wrong = document.body.innerText; })
    .observe(document, {childList: true, subtree: true, characterData: true});"""
START = "sudo systemctl start jacquard2mqtt"


class SlowNetwork:
    """A network to a port of this host on which each byte takes a while in each direction."""

    def __init__(self, target, seconds):
        self.target, self.seconds = target, seconds
        self.sockets = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.start(self.accept)

    @staticmethod
    def start(work, *arguments):
        threading.Thread(target=work, args=arguments, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                one = self.listener.accept()[0]
                other = socket.create_connection(("127.0.0.1", self.target))
                self.sockets += [one, other]
                self.join(one, other)
                self.join(other, one)

    def join(self, source, target):
        parts = queue.SimpleQueue()
        self.start(self.receive, source, parts)
        self.start(self.send, target, parts)

    def receive(self, source, parts):
        data = b" "
        while data:
            try:
                data = source.recv(65536)
            except OSError:
                data = b""
            parts.put((time.monotonic() + self.seconds, data))

    @staticmethod
    def send(target, parts):
        data = b" "
        while data:
            due, data = parts.get()
            time.sleep(max(0, due - time.monotonic()))
            with contextlib.suppress(OSError):
                target.sendall(data) if data else target.shutdown(socket.SHUT_WR)

    def stop(self):
        for each in [self.listener, *self.sockets]:
            each.close()


def first_facts(run):
    """Behind a slow network to the broker, the page shows the tags and never that there is none."""
    stage = run.stage
    for seconds in (0.3, 1.5):
        network, port = SlowNetwork(stage.broker.port, seconds), take_port()
        page, browser = stage.start_web("", port, broker=network.port), run.driver.browser()
        try:
            browser.command("Page.addScriptToEvaluateOnNewDocument", source=WRONG)
            browser.open(stage.link(page))
            browser.wait_for("0001", 60)
            browser.wait_for("attic ok")
            wrong = browser.run("return window.wrong")
            require(wrong is None, "%.1f s away: %s" % (seconds, wrong))
        finally:
            browser.close()
            page.stop()
            network.stop()


def no_bridge(run):
    """At a broker without a bridge, the pages say that and how to start one."""
    stage, port = run.stage, take_port()
    folder = os.path.join(stage.folder, "empty")
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o755)
    broker = Mosquitto(folder)
    page, browser = stage.start_web("", port, broker=broker.port), run.driver.browser()
    try:
        browser.open(stage.link(page))
        for address in ("tags", "pair", "log", "fleet"):
            run.show(address, browser)
            browser.wait_for("No bridge has connected to this broker.")
            browser.wait_for(START)
            require("No tag is known" not in browser.text(), "%s: %s" % (address, browser.text()))
        stage.publish("jacquard/bridge/hall/state", "offline", retain=True, port=broker.port)
        for address in ("tags", "pair", "log", "fleet"):
            run.show(address, browser)
            browser.wait_for("The bridge hall is offline. Start it on its host:")
            browser.wait_for(START)
        stage.publish("jacquard/bridge/hall/state", "online", retain=True, port=broker.port)
        run.show("tags", browser)
        browser.wait_for("No tag is known yet. Pair one.")
    finally:
        browser.close()
        page.stop()
        broker.stop()


def command_time(run):
    """The time of a command is that from the click to the result on the page, also behind a slow network to the broker."""
    stage = run.stage
    network, port = SlowNetwork(stage.broker.port, 0.6), take_port()
    page, browser = stage.start_web("", port, broker=network.port), run.driver.browser()
    try:
        browser.open(stage.link(page))
        browser.wait_for("0001", 60)
        run.show("tag/0001", browser)
        browser.wait_for("connected")
        browser.click_text("Short")
        shown = re.search(r"ok, answered in (\S+) (m?s)\b", browser.wait_for_result("ok, answered in"))
        require(shown[2] == "s" and float(shown[1]) >= 1.2, "the time of a command: %s" % shown[0])
    finally:
        browser.close()
        page.stop()
        network.stop()


def full_stops(run):
    """The sentence about a lost broker ends with one full stop, whatever the cause is."""
    page, stage = run.page, run.stage
    run.login()
    run.show("tags")
    stage.broker.kill()
    try:
        for _ in range(2):
            page.wait_for("The broker is not connected:")
            page.wait_for("What you see is at least")
            text = page.run("return document.getElementById('alert').innerText")
            require(".." not in text and re.search(r"[^.]\. What you see", text), "the alert: %s" % text)
            # The next cause is a broker that does not listen.
            page.wait_for("refused")
    finally:
        stage.broker.start()
    page.wait_for("attic ok", 30)


CASES = [first_facts, no_bridge, command_time, full_stops]
