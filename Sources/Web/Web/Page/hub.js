// One stream of events for all pages of a browser: it holds few connections to a host, and hidden pages need none. In a SharedWorker
// (shared.js); a browser without one has a hub in each page.

// The server sends a sign of life every four seconds. Longer silence than this is a broken connection, in milliseconds.
export const longestSilence = 10000;
// A stream that no page shows any more is kept for a moment: pages are often changed.
const lingering = 3000;
// How often hidden pages, whose titles are still visible, get what has happened.
const catchUpInterval = 15000;
const reconnectDelay = 1000;
const mostEvents = 1000;
// The most tags whose newest gesture is kept beside the events.
const mostGestures = 4096;
// A page that reads nothing gets everything again when it goes on.
const mostUnread = 4000;

// Whether a tag is removed by a message: what was known of it does not belong to a tag that is added later.
export function isEndOfTag({topic, payload, retained}) {
  return retained && payload === "" && /\/tag\/[^/]+\/info$/.test(topic);
}

// A page posts {isShown, touch}, {renew: true} after a login, {again: true} if it has forgotten everything, {left: true}, {ended: true} and
// {read: number}. It receives {name, value}.
export class Hub {
  constructor() {
    this.pages = new Set();
    this.source = null;
    this.reset();
    this.broker = null;
    this.heard = 0;
    this.opened = 0;
    this.timer = null;
    this.hasEnded = false;
    setInterval(() => this.checkSilence(), 1000);
  }

  reset() {
    this.facts = new Map();
    this.events = [];
    // The newest gesture of each tag among the events that are no longer stored, by topic.
    this.gestures = new Map();
    this.isComplete = false;
    // The number of the newest event.
    this.last = "";
  }

  // Adds a page, and returns how it is heard.
  join(post) {
    const page = {post, isShown: false, touch: null, unread: 0, isBehind: false};
    this.pages.add(page);
    this.sendState(page);
    return message => this.receive(page, message);
  }

  receive(page, message) {
    if (message.left) this.pages.delete(page);
    if (message.ended) this.end();
    if (message.renew) return this.renew(page);
    if (message.again) return this.sendState(page);
    if (message.read) {
      page.unread -= message.read;
      if (page.isBehind && page.unread <= 0) this.sendState(page);
    }
    if (message.isShown === undefined && !message.left) return;
    // A page that the browser has stored and shows again.
    if (!message.left && !this.pages.has(page)) { this.pages.add(page); this.sendState(page); }
    // Only a page with a session is shown.
    if (message.isShown) this.hasEnded = false;
    const touch = this.touch();
    Object.assign(page, {isShown: message.isShown ?? false, touch: message.touch ?? null});
    if (this.touch() !== touch && this.source) this.open();
    this.plan();
  }

  // Another session has another role: everything is read again.
  renew(page) {
    this.hasEnded = false;
    this.reset();
    this.close();
    for (const other of this.pages) if (other !== page) this.send(other, "renew");
    this.plan();
  }

  // MARK: To pages

  sendState(page) {
    page.isBehind = false;
    page.unread = 0;
    if (this.broker) this.send(page, "broker", {...this.broker, age: Date.now() - this.heard});
    if (this.facts.size + this.events.length === 0 && !this.isComplete) return;
    this.send(page, "reset");
    this.send(page, "mirror", [...this.facts.values()]);
    this.send(page, "history", [...this.gestures.values(), ...this.events]);
    if (this.isComplete) this.send(page, "ready");
  }

  send(page, name, value) {
    if (page.isBehind) return;
    page.unread += 1;
    if (page.unread > mostUnread) page.isBehind = true;
    else page.post({name, value});
  }

  sendAll(name, value) { for (const page of this.pages) this.send(page, name, value); }

  // MARK: The stream

  touch() { return [...new Set([...this.pages].filter(page => page.isShown && page.touch).map(page => page.touch))].sort().slice(0, 16).join(); }
  isShown() { return [...this.pages].some(page => page.isShown); }

  plan() {
    clearTimeout(this.timer);
    if (this.hasEnded) return;
    if (this.isShown()) {
      if (!this.source) this.open();
    } else if (this.source) this.timer = setTimeout(() => this.rest(), lingering);
    else if (this.pages.size > 0) this.timer = setTimeout(() => this.open(), catchUpInterval);
  }

  rest() {
    this.close();
    this.plan();
  }

  close() {
    this.source?.close();
    this.source = null;
  }

  open() {
    this.close();
    const query = new URLSearchParams();
    if (this.touch()) query.set("touch", this.touch());
    if (this.last) query.set("after", this.last);
    const source = new EventSource(`events?${query}`);
    this.source = source;
    this.opened = Date.now();
    let isFirst = true;
    const on = (name, handle) => source.addEventListener(name, event => {
      if (event.lastEventId) this.last = event.lastEventId;
      handle(event.data);
    });
    // Passed on as text before it is read here: a worker and its pages then read the facts of many tags at the same time.
    const list = (name, text, keep) => {
      // The server sends everything again: facts that are not among it are gone.
      if (isFirst) { this.reset(); this.sendAll("reset"); }
      isFirst = false;
      this.sendAll(name, text);
      for (const message of JSON.parse(text)) keep(message);
    };
    on("broker", text => {
      this.broker = JSON.parse(text);
      this.heard = Date.now();
      this.sendAll("broker", {...this.broker, age: 0});
    });
    on("mirror", text => list("mirror", text, message => this.keep(message)));
    // The ends of tags in it are older than the facts.
    on("history", text => list("history", text, message => this.keepEvent(message)));
    on("ready", () => { this.isComplete = true; this.caughtUp(); });
    on("resume", () => this.caughtUp());
    on("touch", text => this.sendAll("message", JSON.parse(text)));
    on("message", text => {
      const message = JSON.parse(text);
      this.keep(message);
      this.sendAll("message", message);
    });
    source.addEventListener("error", () => { if (this.source === source) this.failed(source.readyState === EventSource.CLOSED); });
  }

  // Everything that happened before has been received.
  caughtUp() {
    this.sendAll("ready");
    if (!this.isShown()) this.rest();
  }

  keep(message) {
    if (!message.retained) return this.keepEvent(message);
    if (message.payload !== "") return this.facts.set(message.topic, message);
    this.facts.delete(message.topic);
    if (isEndOfTag(message)) this.keepEvent(message);
  }

  keepEvent(message) {
    this.events.push(message);
    if (this.events.length <= mostEvents * 1.2) return;
    for (const {topic, ...rest} of this.events.splice(0, this.events.length - mostEvents)) {
      const gesture = topic.replace(/[^/]*$/, "gesture");
      if (topic !== gesture && !isEndOfTag({topic, ...rest})) continue;
      this.gestures.delete(gesture);
      if (topic === gesture) this.gestures.set(topic, {topic, ...rest});
      if (this.gestures.size > mostGestures) this.gestures.delete(this.gestures.keys().next().value);
    }
  }

  // The stream is broken, or the server has refused it: the session has ended, or a proxy reports an error.
  failed(isRefused) {
    this.close();
    this.sendAll("lost");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (isRefused ? this.ask() : this.open()), this.isShown() ? reconnectDelay : catchUpInterval);
  }

  async ask() {
    try {
      const response = await fetch("session", {cache: "no-store", signal: AbortSignal.timeout(longestSilence)});
      if (response.status === 401) return this.end();
    } catch { /* the server is still away */ }
    if (!this.source && !this.hasEnded) this.open();
  }

  end() {
    if (this.hasEnded) return;
    this.hasEnded = true;
    clearTimeout(this.timer);
    this.close();
    this.reset();
    this.sendAll("ended");
  }

  checkSilence() {
    // The clock may have been set back.
    [this.heard, this.opened] = [this.heard, this.opened].map(time => Math.min(time, Date.now()));
    if (this.source && Date.now() - Math.max(this.heard, this.opened) > longestSilence) {
      this.sendAll("lost");
      this.open();
    }
  }
}
