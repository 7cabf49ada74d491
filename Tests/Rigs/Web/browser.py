"""A small client of the WebDriver protocol, for Chromium. Source: w3.org/TR/webdriver2."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import subprocess

from ports import listens, take_port
from programs import Stopwatch, wait_for
from stage import Failure

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
TAB, ENTER, SPACE = "\ue004", "\ue007", " "
SHIFT_TAB = "\ue008\ue004\ue008"


class Driver:
    """A chromedriver process."""

    def __init__(self):
        self.port = take_port()
        self.process = subprocess.Popen(
            ["chromedriver", "--port=%d" % self.port], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for("chromedriver listens", lambda: listens(self.port))
        self.browsers = []

    def browser(self):
        browser = Browser(self)
        self.browsers.append(browser)
        return browser

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())["value"]
        connection.close()
        if isinstance(answer, dict) and "error" in answer:
            raise Failure("%s: %s" % (answer["error"], answer["message"].splitlines()[0]))
        return answer

    def stop(self):
        for browser in self.browsers:
            browser.close()
        self.process.terminate()
        self.process.wait()


# The results of commands from now on: the page shows one that has succeeded for two seconds only.
RESULTS = """window.results = [];
window.resultObserver ??= new MutationObserver(() => {
  for (const line of document.querySelectorAll(".result")) if (line.textContent) window.results.push(line.textContent);
});
window.resultObserver.observe(document, {subtree: true, childList: true, characterData: true});"""


class Browser:
    """A headless Chromium with its own profile."""

    def __init__(self, driver):
        self.driver = driver
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900",
                   "--disable-background-networking", "--no-first-run"]
        answer = driver.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "acceptInsecureCerts": True,
            "goog:chromeOptions": {"args": options, "binary": "/usr/bin/chromium"},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
        self.path = "/session/" + answer["sessionId"]
        self.process = answer["capabilities"].get("goog:processID")

    def call(self, method, path, body=None):
        return self.driver.call(method, self.path + path, body)

    def open(self, address):
        self.call("POST", "/url", {"url": address})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def command(self, name, **parameters):
        """A command of the Chrome DevTools protocol."""
        return self.call("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def text(self):
        return self.run("return document.body.innerText")

    def wait_for(self, text, seconds=15):
        """Waits until the page shows a text, and returns the time of a `Stopwatch`."""
        watch = Stopwatch()
        try:
            wait_for("the page shows %r" % text, lambda: text in self.text(), seconds)
        except TimeoutError as failure:
            raise Failure("%s; it shows:\n%s" % (failure, self.text()))
        return watch.seconds()

    def note_results(self):
        """Notes the results of commands from now on. Each click begins with it."""
        self.run(RESULTS)

    def wait_for_result(self, text):
        """Waits for the result of a command, and returns it."""
        find = "return window.results.find(result => result.includes(arguments[0]))"
        try:
            return wait_for("the result %r" % text, lambda: self.run(find, text), 15)
        except TimeoutError as failure:
            raise Failure("%s; there were %s; it shows:\n%s" % (failure, self.run("return window.results"), self.text()))

    def wait_for_script(self, script, what, seconds=15):
        return wait_for(what, lambda: self.run(script), seconds)

    def act(self, using, value, action, body):
        """Finds an element and acts on it; again, if the page has drawn it again in between."""
        def acted():
            if action == "click":
                self.note_results()
            element = self.call("POST", "/element", {"using": using, "value": value})[ELEMENT]
            try:
                self.call("POST", "/element/%s/%s" % (element, action), body)
            except Failure as failure:
                if not str(failure).startswith("stale element reference"):
                    raise
                return False
            return True

        wait_for("an element that is not drawn again: " + value, acted)

    def click(self, selector):
        self.act("css selector", selector, "click", {})

    def click_text(self, text):
        self.act("xpath", "//button[normalize-space()='%s'] | //a[normalize-space()='%s']" % (text, text), "click", {})

    def type(self, selector, text):
        self.act("css selector", selector, "value", {"text": text})

    def keys(self, *keys):
        """Presses keys on whatever has the focus."""
        actions = [action for text in keys for key in text
                   for action in ({"type": "keyDown", "value": key}, {"type": "keyUp", "value": key})]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def focus(self):
        """What has the focus, as a screen reader names it."""
        return self.run("""const element = document.activeElement;
            return (element.getAttribute("aria-label") || element.labels?.[0]?.innerText || element.innerText || element.id || element.tagName).trim()""")

    def tab_to(self, name, most=60):
        """Presses Tab until an element with this name has the focus."""
        for _ in range(most):
            if self.focus().split("\n")[0] == name:
                return
            self.keys(TAB)
        raise Failure("no element %r within %d presses of Tab" % (name, most))

    def scheme(self, name):
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def width(self, pixels, height=900):
        self.command("Emulation.setDeviceMetricsOverride", width=pixels, height=height, deviceScaleFactor=1, mobile=False)

    def screenshot(self, path):
        # A scrollbar would take its width off the layout, but not off the picture.
        self.command("Emulation.setScrollbarsHidden", hidden=True)
        answer = self.command("Page.captureScreenshot", captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    def tree(self):
        """The accessibility tree as lines "role name", without texts and layout."""
        nodes = self.command("Accessibility.getFullAXTree")["nodes"]
        lines = []
        for node in nodes:
            if node.get("ignored"):
                continue
            role = node["role"]["value"]
            name = node.get("name", {}).get("value", "").strip()
            if role in ("RootWebArea", "banner", "main", "navigation", "search", "region", "form", "heading", "link", "button",
                        "textbox", "searchbox", "checkbox", "radio", "combobox", "spinbutton", "ColorWell", "image", "img", "table",
                        "columnheader", "rowheader", "status", "group", "listitem"):
                lines.append(("%s %s" % (role, name)).strip())
        return lines

    def console(self):
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"}) if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """The addresses of all requests since the last call."""
        addresses = []
        for entry in self.call("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                addresses.append(message["params"]["request"]["url"])
        return addresses

    def close(self):
        with contextlib.suppress(Failure, OSError):
            self.call("DELETE", "")
