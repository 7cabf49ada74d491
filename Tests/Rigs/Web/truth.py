"""What the page shows is true: also in many tabs, in the background, with a wrong clock, a broker that hangs and a network that drops everything."""

from __future__ import annotations

import selectors
import signal
import socket
import threading
import time

from programs import Stopwatch, wait_for
from stage import all_online, require

ALERT = "return document.getElementById('alert').hidden ? '' : document.getElementById('alert').innerText"
# The page has nothing to read out again: its live region is the same.
SPOKEN = """window.spoken = []; new MutationObserver(() => window.spoken.push(document.getElementById("problem").textContent))
    .observe(document.getElementById("problem"), {childList: true, characterData: true, subtree: true})"""


class Relay:
    """A network between browsers and the page's server, which can drop everything without closing a connection."""

    def __init__(self, target):
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.port = self.listener.getsockname()[1]
        self.drops = False
        self.peers = {}
        # Connections on which a browser has requested events.
        self.streams = set()
        self.ends = False
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        while not self.ends:
            for key, _ in self.selector.select(0.05):
                if key.fileobj is self.listener:
                    self.accept()
                elif key.fileobj in self.peers:
                    self.forward(key.fileobj)

    def accept(self):
        one = self.listener.accept()[0]
        other = socket.create_connection(("127.0.0.1", self.target))
        self.peers[one], self.peers[other] = other, one
        for each in (one, other):
            self.selector.register(each, selectors.EVENT_READ)

    def forward(self, one):
        try:
            data = one.recv(65536)
            if data.startswith(b"GET /events"):
                self.streams.add(one)
            if data and not self.drops:
                self.peers[one].sendall(data)
        except OSError:
            data = b""
        # A network that drops everything also drops the end of a connection.
        if not data:
            self.close(one)

    def close(self, one):
        for each in (one, self.peers.pop(one)):
            self.peers.pop(each, None)
            self.streams.discard(each)
            self.selector.unregister(each)
            if not self.drops:
                each.close()

    def stop(self):
        self.ends = True
        self.thread.join()
        for each in [*self.peers, self.listener]:
            each.close()


def login(run, browser, port):
    browser.open(run.stage.link(run.web).replace(":%d/" % run.stage.web_port, ":%d/" % port))
    browser.wait_for("attic ok")


def other_tab(browser, address="about:blank"):
    """Opens a tab in front of the others, and returns it."""
    tab = browser.call("POST", "/window/new", {"type": "tab"})["handle"]
    browser.call("POST", "/window", {"handle": tab})
    browser.open(address)
    return tab


def tab(browser, handle):
    browser.call("POST", "/window", {"handle": handle})


def title(browser, handle):
    """The title of a tab, which stays in the background."""
    return [each["title"] for each in browser.command("Target.getTargets")["targetInfos"] if each["targetId"] == handle][0]


def wait_for_title(browser, beginning, seconds=5):
    """Waits until the title of the tab in front begins with a text."""
    browser.wait_for_script("return document.title.startsWith(%r)" % beginning, "the title %s" % beginning, seconds)


def tabs(run):
    """Eight tabs of a browser share one stream, and each of them sends commands; with another browser and a phone at once."""
    relay = Relay(run.stage.web_port)
    browser, second, phone = (run.driver.browser() for _ in range(3))
    try:
        for each in (browser, second, phone):
            login(run, each, relay.port)
        phone.width(390, 800)
        handles = [browser.call("GET", "/window")]
        address = "http://127.0.0.1:%d/" % relay.port
        for _ in range(7):
            handles.append(other_tab(browser, address + "#tag/0001"))
            browser.wait_for("Charts")
        browser.click_text("Short")
        browser.wait_for_result("ok, answered in")
        wait_for("one stream for each browser", lambda: len(relay.streams) == 3, 30)
        browser.wait_for("connected")
        second.wait_for("connected")
        run.stage.gesture("0001", "brush_in")
        browser.wait_for("brush in", 2)
        second.wait_for("brush in", 2)
        phone.wait_for("brush in", 2)
        # Each tab, when it is shown, has what has happened meanwhile.
        for handle in handles:
            tab(browser, handle)
            browser.wait_for("brush in", 2)
        wait_for("one stream for each browser still", lambda: len(relay.streams) == 3, 30)
        print("  8 tabs, 2 browsers and a phone: %d streams" % len(relay.streams))
    finally:
        for each in (browser, second, phone):
            each.close()
        relay.stop()


def background(run):
    """The title of a tab in the background follows, and a browser without a visible page has no stream."""
    stage, relay = run.stage, Relay(run.stage.web_port)
    browser = run.driver.browser()
    try:
        login(run, browser, relay.port)
        first = browser.call("GET", "/window")
        total = all_online(browser)
        # Another page of the same browser is visible.
        other_tab(browser, "http://127.0.0.1:%d/" % relay.port)
        browser.wait_for("attic ok")
        stage.simulator.type("out-of-range 0001")
        browser.wait_for("%d online" % (total - 1), 10)
        wait_for("the title follows", lambda: title(browser, first).startswith("%d online" % (total - 1)), 3)
        # No page of this browser is visible.
        other_tab(browser)
        wait_for("no stream without a visible page", lambda: not relay.streams, 30)
        stage.simulator.type("in-range 0001")
        wait_for("the title follows", lambda: title(browser, first).startswith("%d online" % total), 60)
        wait_for("no stream again", lambda: not relay.streams, 30)
        stage.broker.kill()
        wait_for("the title follows", lambda: title(browser, first).startswith("not connected"), 30)
        stage.broker.start()
        wait_for("the title follows", lambda: title(browser, first).startswith("%d online" % total), 30)
    finally:
        browser.close()
        relay.stop()


def hidden_title(run):
    """A hidden tab draws its title, and nothing else, at most once a second, however many messages arrive."""
    stage, browser = run.stage, run.driver.browser()
    try:
        address = "http://127.0.0.1:%d/" % stage.web_port
        browser.open(stage.link(run.web))
        browser.wait_for("attic ok")
        first = browser.call("GET", "/window")
        browser.run("""window.titles = []; window.drawn = 0;
            Object.defineProperty(document, "title", {set() { if (document.hidden) titles.push(performance.now()); }});
            new MutationObserver(() => { if (document.hidden) drawn += 1; }).observe(document.body, {childList: true, subtree: true, characterData: true, attributes: true});""")
        other_tab(browser, address + "#events")
        browser.wait_for("attic ok")
        end = time.monotonic() + 6
        while time.monotonic() < end:
            stage.publish_lines("jacquard/tag/0001/gesture", '{"event_type":"cover","seq":1}\n' * 20)
        tab(browser, first)
        titles, drawn = browser.run("return [window.titles, window.drawn]")
        require(len(titles) >= 3 and min(next - last for last, next in zip(titles, titles[1:])) > 900, "titles at %s" % titles)
        require(drawn == 0, "a hidden page was drawn %d times" % drawn)
    finally:
        browser.close()


def without_worker(run):
    """In a browser without shared workers, a visible page has a stream of its own, and a hidden one has none."""
    relay = Relay(run.stage.web_port)
    browser = run.driver.browser()
    try:
        browser.command("Page.addScriptToEvaluateOnNewDocument", source="delete window.SharedWorker;")
        login(run, browser, relay.port)
        first = browser.call("GET", "/window")
        wait_for("one stream", lambda: len(relay.streams) == 1, 30)
        run.stage.gesture("0001", "brush_in")
        browser.wait_for("brush in", 5)
        other_tab(browser)
        wait_for("no stream", lambda: not relay.streams, 30)
        tab(browser, first)
        wait_for("a stream again", lambda: len(relay.streams) == 1, 30)
        run.stage.gesture("0001", "cover")
        browser.wait_for("cover", 5)
    finally:
        browser.close()
        relay.stop()


def hanging_broker(run):
    """A broker that hangs is noticed within 15 s, and the page says how old what it shows is; a screen reader hears it once."""
    page, stage = run.page, run.stage
    run.login()
    run.show("tags")
    page.run(SPOKEN)
    watch = Stopwatch()
    stage.broker.process.send_signal(signal.SIGSTOP)
    try:
        noticed = page.wait_for("The broker is not connected", 20)
        require(noticed < 16, "noticed after %.1f s" % noticed)
        page.wait_for_script(ALERT + ".includes('at least 10 s old')", "the age")
        page.wait_for_script(ALERT + ".includes('at least 20 s old')", "the age", 20)
        took = time.monotonic() - watch.begin
        require(took >= 10, "the page says 20 s after %.1f s" % took)
        shown = page.text().split("Tags")[0]
        require("online" not in shown and "state not known" in shown, "the header: %s" % shown)
        wait_for_title(page, "not connected")
        require(len(page.run("return window.spoken")) == 1, "read out: %s" % page.run("return window.spoken"))
        print("  a broker that hangs: shown after %.1f s" % noticed)
    finally:
        stage.broker.process.send_signal(signal.SIGCONT)
    page.wait_for("attic ok", 20)
    require(page.run(ALERT) == "", "the alert remains")


def silent_network(run):
    """A network that drops everything is noticed within 15 s, and a command that may not have arrived says so."""
    relay = Relay(run.stage.web_port)
    browser = run.driver.browser()
    try:
        login(run, browser, relay.port)
        run.show("tag/0001", browser)
        browser.wait_for("Charts")
        browser.wait_for("connected")
        watch = Stopwatch()
        relay.drops = True
        browser.click_text("Short")
        browser.wait_for("sending")
        browser.wait_for("it is not known whether it has the command", 15)
        browser.wait_for("The page's server does not answer.", 20)
        took = watch.seconds()
        require(took < 15, "noticed after %.1f s" % took)
        browser.wait_for("at least 10 s old", 10)
        require("waiting for the tag" not in browser.text(), "a command that was not sent waits for the tag")
        wait_for_title(browser, "not connected")
        print("  a network that drops everything: shown after %.1f s" % took)
        relay.drops = False
        browser.wait_for("attic ok", 30)
    finally:
        browser.close()
        relay.drops = False
        relay.stop()


def wrong_clock(run):
    """A browser whose clock is an hour fast, or slow, shows ages by the server's clock."""
    for hours in (1, -1):
        browser = run.driver.browser()
        try:
            browser.command("Page.addScriptToEvaluateOnNewDocument", source="const now = Date.now; Date.now = () => now() + %d;" % (hours * 3600000))
            login(run, browser, run.stage.web_port)
            run.stage.gesture("0001", "cover")
            gesture = "return [...document.querySelectorAll('.gesture')].map(line => line.innerText.replace(/\\s+/g, ' ')).includes('cover just now')"
            browser.wait_for_script(gesture, "a gesture that was made just now", 5)
            require(browser.run(ALERT) == "", "alert: %s" % browser.run(ALERT))
        finally:
            browser.close()


CASES = [tabs, background, hidden_title, without_worker, hanging_broker, silent_network, wrong_clock]
