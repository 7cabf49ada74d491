"""Sessions of a browser: one that has ended leaves nothing on the screen, and several pages of a host keep theirs."""

from __future__ import annotations

import json

from ports import take_port
from programs import wait_for
from stage import Client, require
from truth import Relay, login, other_tab, tab, title

# What the page shows after a moment that is longer than its patience with a silent server.
LATER = """const [done] = arguments;
setTimeout(() => done([document.title, document.body.innerText, document.getElementById("alert").hidden]), 3000);"""


def session_of(browser, port):
    """A client without a browser that has the browser's session."""
    client = Client(port)
    client.cookie = "; ".join("%s=%s" % (each["name"], each["value"]) for each in browser.call("GET", "/cookie"))
    client.token = json.loads(client.request("GET", "/session")[2])["token"]
    return client


def hidden_end(run):
    """A tab in the background whose session ends has the login and nothing else when it is shown again."""
    browser = run.driver.browser()
    try:
        login(run, browser, run.stage.web_port)
        first = browser.call("GET", "/window")
        browser.wait_for_script("return document.title.includes('online')", "the title with the tags")
        client = session_of(browser, run.stage.web_port)
        other_tab(browser)
        require(client.request("POST", "/logout", {})[0] == 200, "no logout")
        wait_for("the title of the login", lambda: title(browser, first) == "Log in \u2013 jacquard", 40)
        tab(browser, first)
        browser.call("POST", "/timeouts", {"script": 20000})
        shown, text, is_hidden = browser.call("POST", "/execute/async", {"script": LATER, "args": []})
        require(shown == "Log in \u2013 jacquard", "the title: %s" % shown)
        require(is_hidden, "an alert: %s" % text)
        for word in ("Reconnecting", "online", "attic", "0001", "Tags"):
            require(word not in text, "%s is shown without a session: %s" % (word, text))
        # Another login in this browser draws everything again.
        other_tab(browser, run.stage.link(run.web))
        browser.wait_for("attic ok")
        tab(browser, first)
        browser.wait_for("attic ok")
        browser.wait_for("0001")
    finally:
        browser.close()


def ports(run):
    """Pages on two ports of a host, and a page on two forwarded ports, keep their sessions."""
    stage, browser, port = run.stage, run.driver.browser(), take_port()
    other = stage.start_web("", port)
    relays = [Relay(port), Relay(port)]
    try:
        links = {stage.web_port: (run.web, stage.web_port), port: (other, port)}
        links.update({relay.port: (other, port) for relay in relays})
        for shown, (page, own) in links.items():
            browser.open(stage.link(page).replace(":%d/" % own, ":%d/" % shown))
            browser.wait_for("attic ok")
        for shown in links:
            browser.open("http://127.0.0.1:%d/" % shown)
            browser.wait_for("attic ok")
        names = {each["name"] for each in browser.call("GET", "/cookie")}
        require(len(names) == len(links), "cookies: %s" % names)
    finally:
        browser.close()
        for relay in relays:
            relay.stop()
        other.stop()


CASES = [hidden_end, ports]
