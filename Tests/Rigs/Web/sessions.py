"""Sessions of a browser: one that has ended leaves nothing on the screen."""

from __future__ import annotations

import json

from programs import wait_for
from stage import Client, require
from truth import login, other_tab, tab, title

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


CASES = [hidden_end]
