"""The page's server: behind a proxy, in Home Assistant, and when a part of it is killed."""

from __future__ import annotations

import subprocess
import time

from browser import ENTER
from ingress import Ingress
from ports import listens, take_port
from programs import Program, wait_for
from stage import require


def proxy(run):
    """Behind nginx with TLS, below a path prefix."""
    stage = run.stage
    port, front = take_port(), take_port()
    hashed = subprocess.run([stage.program("jacquard2mqtt-web"), "password"], input="right\n", check=True, capture_output=True, text=True).stdout
    stage.start_web("behind_proxy: true\nusers:\n  - name: ada\n    role: admin\n    %s" % hashed, port)
    folder = stage.folder
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder + "/n.key", "-out", folder + "/n.crt"], check=True, capture_output=True)
    configuration = stage.write("nginx.conf", """
        daemon off; pid %(f)s/nginx.pid; error_log stderr; events {}
        http { access_log off; client_body_temp_path %(f)s/b; proxy_temp_path %(f)s/p; fastcgi_temp_path %(f)s/f; uwsgi_temp_path %(f)s/u; scgi_temp_path %(f)s/s;
        server { listen 127.0.0.1:%(front)d ssl; ssl_certificate %(f)s/n.crt; ssl_certificate_key %(f)s/n.key;
        location /home/jacquard/ { proxy_pass http://127.0.0.1:%(port)d/; proxy_http_version 1.1; proxy_set_header Host $http_host;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_buffering off; proxy_read_timeout 1h; } } }
        """ % {"f": folder, "front": front, "port": port})
    stage.add(Program(folder, "nginx", ["/usr/sbin/nginx", "-c", configuration, "-e", "stderr"]))
    wait_for("nginx listens", lambda: listens(front))
    browser = run.driver.browser()
    browser.open("https://127.0.0.1:%d/home/jacquard/" % front)
    browser.wait_for("Password")
    browser.type("input[name=user]", "ada")
    browser.type("input[name=password]", "wrong" + ENTER)
    browser.wait_for("is wrong")
    browser.run("document.querySelector('input[name=password]').value = ''")
    browser.type("input[name=password]", "right" + ENTER)
    browser.wait_for("ada (admin)")
    browser.wait_for("connected")
    cookies = browser.call("GET", "/cookie")
    require([(c["path"], c["secure"], c["httpOnly"], c["sameSite"]) for c in cookies] == [("/home/jacquard", True, True, "Strict")], "cookie: %s" % cookies)
    browser.run("location.hash = 'tag/0001'")
    browser.wait_for("Charts")
    browser.click_text("Play")
    browser.wait_for_result("ok, answered in")
    browser.click_text("Log out")
    browser.wait_for("Password")


def outage(page, process, shows, is_back, meanwhile=lambda: None):
    """Kills a process: the page shows it within 2 s, and recovers after it is started again."""
    process.kill()
    shown = page.wait_for(shows)
    meanwhile()
    process.start()
    begin = time.monotonic()
    is_back()
    print("  %s killed: %r after %.2f s; recovered %.2f s after its start" % (process.name, shows, shown, time.monotonic() - begin))
    require(shown < 2, "the page needed %.1f s" % shown)


def loading(run):
    """A page that is being loaded reports no problem, and counts no tags, before it has heard from its server."""
    page = run.page
    run.login()
    run.show("tags")
    script = page.command("Page.addScriptToEvaluateOnNewDocument", source="""
        window.seen = [];
        document.addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
          const [alert, totals] = ["alert", "totals"].map(name => document.getElementById(name));
          // What the server has told it has a cause behind the colon: on a busy machine, a broker can be lost.
          if (alert && !alert.hidden && !/^The broker is not connected: [a-z]/i.test(alert.textContent)) window.seen.push(alert.textContent);
          if (totals?.textContent.startsWith("0 ")) window.seen.push(totals.textContent);
        }).observe(document, {subtree: true, childList: true, attributes: true, characterData: true}));
    """)
    try:
        page.call("POST", "/refresh", {})
        page.wait_for("attic ok")
        seen = page.run("return window.seen")
        require(seen == [], "it has shown %s" % seen)
    finally:
        page.command("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])


# The names that the scripts of the page declare at their top: those declared twice, and those that the browser has.
NAMES = """const [done] = arguments;
fetch("app.js").then(response => response.text()).then(script => {
  const names = [...script.matchAll(/^(?:async )?(?:function\\*?|class|const|let) (\\w+)/gm)].map(match => match[1]);
  const further = [...script.matchAll(/^(?:const|let) .*/gm)].flatMap(line => [...line[0].matchAll(/, (\\w+) = /g)].map(match => match[1]));
  done({
    count: names.length, twice: names.filter((name, index) => names.indexOf(name) < index),
    // An element with an id is a name, too, but the scripts do not use it as one.
    taken: [...names, ...further].filter(name => name in window && !(window[name] instanceof Element)),
  });
}, failure => done(String(failure)));"""


def script_names(run):
    """The scripts of the page, which are served as one, do not take names from each other or from the browser."""
    run.login()
    found = run.page.call("POST", "/execute/async", {"script": NAMES, "args": []})
    require(found["count"] > 100, "only %d names" % found["count"])
    require(found["twice"] == found["taken"] == [], "names that are taken: %s" % found)


def recovery(run):
    """The broker, the page's server and the bridge are killed: the page shows it within 2 s, and recovers by itself."""
    page, stage = run.page, run.stage
    run.login()
    run.show("tags")

    def keeps_facts():
        require("0001" in page.text(), "the last facts are gone")
        require(page.run("return document.getElementById('main').classList.contains('old')"), "old facts are not grey")
        page.wait_for(" old. Reconnecting.")

    def broker_is_back():
        page.wait_for_script("return document.getElementById('alert').hidden", "the broker is back", 20)

    outage(page, stage.broker, "The broker is not connected", broker_is_back, keeps_facts)
    page.wait_for("attic ok", 20)
    # Sessions are in memory only: the browser has to log in again.
    outage(page, run.web, "does not answer", lambda: page.wait_for("one-time link", 20), keeps_facts)
    run.login()
    require(page.run("return document.querySelectorAll('nav a').length") == 5, "the links to the pages are missing")
    run.show("tags")

    def tags_are_offline():
        page.wait_for("0 online", 2)
        page.wait_for("bridge offline", 2)
        notice = page.run("return document.querySelector('#notices .alert')?.innerText ?? ''")
        require(notice.startswith("The bridge attic is offline: its ") and notice.endswith(" cannot be reached. What to do"), "the banner: %s" % notice)

    outage(page, stage.bridge, "attic offline", lambda: page.wait_for("attic ok", 30), tags_are_offline)
    page.wait_for_script("return /^\\d+ tags?, \\d+ online/.test(document.getElementById('totals').innerText) && !document.title.includes('offline')", "no tag is offline", 40)
    require("0 offline" not in page.text(), "a count of nothing: %s" % page.text())


def ingress(run):
    """In Home Assistant: below the path of an add-on, from the supervisor's address, without a login."""
    stage = run.stage
    if run.network:
        print("  not tried: %s" % run.network)
        return
    port = take_port()
    stage.start_web("ingress: true\n", port)
    proxy = Ingress(port)
    browser = run.driver.browser()
    try:
        browser.requests()
        browser.open(proxy.address)
        browser.wait_for("attic")
        run.show("tag/0001", browser)
        browser.wait_for("Charts")
        browser.click_text("Play")
        browser.wait_for_result("ok, answered in")
        cookies = browser.call("GET", "/cookie")
        require([(c["path"], c["httpOnly"], c["sameSite"]) for c in cookies] == [(proxy.path, True, "Strict")], "cookie: %s" % cookies)
        outside = {address for address in browser.requests() if not address.startswith((proxy.address, "data:"))}
        require(not outside, "requests outside of the add-on's path: %s" % outside)
        # The first request finds that there is no session yet.
        messages = [message for message in browser.console() if "/session - Failed to load" not in message]
        require(not messages, "the console has messages: %s" % messages)
    finally:
        browser.close()
        proxy.stop()


CASES = [proxy, ingress, loading, script_names, recovery]
