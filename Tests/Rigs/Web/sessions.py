"""Sessions of a browser: one that has ended leaves nothing on the screen, and several pages of a host keep theirs."""

from __future__ import annotations

import json
import subprocess

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


def is_valid(client):
    return client.request("GET", "/session")[0] == 200


def devices(run):
    """A device stays logged in when the server starts again; the page lists and ends sessions, and says so in theirs."""
    stage, browser, other, port = run.stage, run.driver.browser(), run.driver.browser(), take_port()
    page = stage.start_web("", port)
    try:
        browser.open(stage.link(page, "--device", "K\u00fcche 1"))
        browser.wait_for("attic ok")
        ordinary = Client(port)
        require(ordinary.use(stage.link(page)) == 200, "no login")
        wait_for("the session is stored", lambda: "K\u00fcche 1" in open(page.runtime + "/devices.json", encoding="utf-8").read())
        page.kill()
        browser.wait_for("does not answer")
        page.start()
        browser.wait_for_script("return document.getElementById('alert').hidden && document.title.includes('online')", "no login")
        require(not is_valid(ordinary), "a browser's session has outlived the server")
        require(ordinary.use(stage.link(page)) == 200, "no login after the start")

        browser.click_text("Fleet")
        browser.wait_for("Sessions of this page")
        browser.click_text("Sessions of this page")
        browser.wait_for("K\u00fcche 1 (this one)")
        browser.wait_for("a browser")
        browser.click("button[aria-label='End the session of a browser']")
        wait_for("the session ends", lambda: not is_valid(ordinary))
        browser.wait_for_script("return !document.querySelector('main tbody').innerText.includes('a browser')", "the row is gone")

        other.open(stage.link(page))
        other.wait_for("attic ok")
        other.click_text("Fleet")
        other.wait_for("Sessions of this page")
        other.click_text("Sessions of this page")
        other.click("button[aria-label='End the session of K\u00fcche 1']")
        browser.wait_for("You were logged out.")
        other.click("button[aria-label='End the session of a browser']")
        other.wait_for("You were logged out.")
    finally:
        browser.close()
        other.close()
        page.stop()


def picture_of_link(run):
    """`open --qr` prints the link for a phone, with the proxy's address, and its picture; without a proxy it says what is missing."""
    stage, port = run.stage, take_port()
    page = stage.start_web("", port)
    settings = stage.write("proxied.yaml", "port: %d\ntrusted_origins: ['https://page.example']\n" % port)
    try:
        for options, address in ([], "http://127.0.0.1:%d/" % port), (["--web", settings], "https://page.example/"):
            command = [stage.program("jacquard2mqtt-web"), "open", "--qr", "--runtime", page.runtime, *options]
            result = subprocess.run(command, capture_output=True, text=True, check=True)
            link, *picture = result.stdout.splitlines()
            require(link.startswith(address + "#key="), link)
            require(len(picture) > 15 and "\u2588" in picture[3], result.stdout)
            require(("trusted_origins" in result.stderr) == (not options), result.stderr)
        without = subprocess.run(command, capture_output=True, text=True, env={"PATH": "/nowhere"})
        require(without.returncode == 1 and "sudo apt install qrencode" in without.stderr, without.stderr)
    finally:
        page.stop()


CASES = [hidden_end, ports, devices, picture_of_link]
