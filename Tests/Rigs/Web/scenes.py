"""Scenes: pages with a model of their own, whose facts and messages are those of bridges with any number of tags, without their processes."""

from __future__ import annotations

from stage import require

# Draws a page in place of the one that is shown, and gives its parts to the script of a case in `scene`.
SCENE = """const [options, done] = arguments;
(async () => {
  const [{Model}, ...pages] = await Promise.all(["model", "tags", "tag", "pair", "events", "log", "why"].map(name => import(`./${name}.js`)));
  const open = Object.assign({}, ...pages)[`${options.page}Page`];
  const model = new Model(), main = document.getElementById("main"), sent = [], iso = ago => new Date(Date.now() - ago).toISOString();
  const connection = {
    session: {role: "admin", touch_modes: ["gesture", "continuous", "slide"],
      controls: [{name: "find", key: "find", words: ["start", "stop"], number: {key: "for_s", low: 5, high: 300, unit: "s", words: ["start"]}}]}, may: () => true, watchTouch() {}, remember() {},
    send: (topic, payload) => { sent.push([topic, payload]); return new Promise(resolve => { scene.answers.set(topic.split("/").at(-1), resolve); }); },
  };
  const scene = window.scene = {model, main, sent, connection, answers: new Map(), minute: 60000};
  scene.fact = (topic, value, ago = 0) => model.apply({topic: `jacquard/${topic}`, retained: true, received_ms: Date.now() - ago * 6e4, payload: typeof value === "string" ? value : JSON.stringify(value)});
  scene.event = (topic, value, ago = 0) => model.apply({topic: `jacquard/${topic}`, retained: false, received_ms: Date.now() - ago, payload: JSON.stringify(value)}, ago > 0);
  scene.bridge = (name, more = {}) => { scene.fact(`bridge/${name}/state`, "online"); scene.fact(`bridge/${name}/info`, {instance: name, boot: "1", started: iso(36e5), ...more}); };
  scene.tag = (id, {name = "", bridge = "attic", offline = 0, since = 40, level = 80, charging = false, rssi = -58, product = "Trucker Jacket", chords = []} = {}) => {
    scene.fact(`tag/${id}/info`, {id, name, bridge, serial: id, firmware: "1.74.0", address: "F0:00:00:00:00:02", chords});
    scene.fact(`tag/${id}/battery`, {level, charging, time: iso(36e5)});
    scene.fact(`tag/${id}/gear`, product ? {attached: true, vendor: "Levi's", product} : {attached: false});
    scene.fact(`tag/${id}/rssi`, rssi);
    scene.fact(`tag/${id}/availability`, offline ? "offline" : "online");
    scene.fact(`tag/${id}/touch_mode`, "gesture");
    scene.fact(`tag/${id}/connection`, offline ? {state: "preparing_to_connect", since: iso(offline * 6e4), last_seen: iso(offline * 6e4), error: {code: "connection_timeout", text: "No link"}}
      : {state: "connected", since: iso(since * 6e4)});
  };
  scene.gesture = (id, type, ago = 0, seq = 1, more = {}) => scene.event(`tag/${id}/gesture`, {event_type: type, seq, boot: "1", time: iso(ago * 6e4), ...more}, ago * 6e4);
  scene.wait = ms => new Promise(resolve => setTimeout(resolve, ms));
  // The rows of a table that follow the first ones come a moment later.
  scene.rows = async count => { while (main.querySelectorAll("#tags tbody tr").length < count) await scene.wait(20); };
  scene.update = () => { model.isNextSecond = true; scene.page.update(); model.changedTags.clear(); };
  scene.open = argument => {
    scene.page?.close?.();
    main.replaceChildren();
    scene.page = open(main, {model, connection, go() {}}, argument);
    scene.update();
  };
  scene.texts = (selector, root = main) => [...root.querySelectorAll(selector)].filter(each => each.getClientRects().length).map(each => each.innerText.replace(/\\s+/g, " ").trim());
  model.base = "jacquard";
  model.heard({age: 0, now_ms: Date.now(), heard_ms: Date.now(), connected: true, text: ""});
  scene.bridge("attic", {groups: {hall: ["0001", "0002"]}});
  const names = ["Left sleeve", "Right sleeve", "Rucksack", "Coat of Ada", "Patch on the sofa", "Workshop", "Old jacket", "Spare"];
  const kinds = ["brush_in", "double_tap", "cover", "brush_out", "brush_up", "brush_down"];
  const products = ["Trucker Jacket", "Cit-e Backpack", "Patch", null];
  for (let index = 0; index < options.tags; index += 1) {
    const id = String(index + 1).padStart(4, "0");
    scene.tag(id, {
      name: `${names[index % 8]}${index < 8 ? "" : ` ${Math.floor(index / 8) + 1}`}`, bridge: index % 3 === 2 && options.tags > 8 ? "hall" : "attic", product: products[index % 4],
      offline: index % 17 === 1 ? 12 : 0, level: index % 11 === 2 ? 14 : 95 - index * 7 % 70, rssi: -48 - index * 9 % 45, since: 30 + (index * 67 + 300) % 500,
      chords: index === 0 ? ["double_tap_then_brush_in"] : [],
    });
    for (let number = index % 4; number > 0; number -= 1) scene.gesture(id, kinds[(index + number) % 6], number * 17 + index, 4 - number);
  }
  if (options.tags > 8) scene.bridge("hall");
  model.isReady = true;
  // A tag was away for a while, some minutes ago.
  scene.away = (id, from, to) => {
    scene.fact(`tag/${id}/availability`, "offline", from);
    scene.fact(`tag/${id}/connection`, {state: "preparing_to_connect", since: iso(from * 6e4)}, from);
    scene.fact(`tag/${id}/connection`, {state: "connected", since: iso(to * 6e4)}, to);
    scene.fact(`tag/${id}/availability`, "online", to);
  };
  scene.open(options.argument ?? "");
  return await (EXPRESSION);
})().then(done, failure => done(String(failure?.stack ?? failure)));"""


def scene(run, script, page="tags", tags=3, argument=""):
    """Draws a page with tags, and returns what a script (an expression) makes of its `scene`."""
    # Without what an earlier page has kept, such as the order of the table.
    leave(run)
    run.page.call("POST", "/timeouts", {"script": 30000})
    return run.page.call("POST", "/execute/async", {"script": SCENE.replace("EXPRESSION", script), "args": [{"page": page, "tags": tags, "argument": argument}]})


def expect(value, expected, what):
    require(value == expected, "%s: %s" % (what, value))


def leave(run):
    """Shows the page itself again."""
    run.page.run("window.scene?.page.close?.(); location.reload()")
    run.page.wait_for("attic")
