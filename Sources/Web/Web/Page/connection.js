// The connection to the page's server: the session, what the hub receives, and commands.

import {Hub} from "./hub.js";
import {exactSpan} from "./model.js";

// How long the server may take to answer, in milliseconds.
const longestAnswer = 8000;
// With more tags than this, which are always a table, the first rows are drawn before the other tags are known.
const manyTags = 60;
// The most tags whose last day is read.
const mostRemembered = 24;
// How long a worker may take to start.
const longestStart = 3000;

export class Connection {
  constructor(model) {
    this.model = model;
    this.session = null;
    this.isForgotten = false;
    // Whether only a part of few tags may have been received.
    this.isArriving = false;
    // Sends a message to the hub; null before the first session.
    this.tell = null;
    this.touch = null;
    this.remembered = new Set();
    // When the session was last prolonged.
    this.prolonged = 0;
    this.waiting = new Map();
    this.early = new Map();
    this.onChange = () => {};
    this.onMessage = () => {};
    this.onSession = () => {};
    this.onSessionLost = () => {};
  }

  // Returns the session, or how to log in.
  async open() {
    const {response, body} = await answered("session", {});
    if (response.ok) return this.begin(body);
    if (response.status === 401 && body.login === "ingress") return this.login({});
    return {login: body.login ?? "none", text: body.error?.text};
  }

  async login(body) {
    const {response, body: answer} = await answered("login", post(body, {}));
    if (!response.ok) return {login: "failed", text: answer.error?.text ?? `The server answered ${response.status}.`};
    return this.begin(answer, true);
  }

  begin(session, isNew = false) {
    this.session = session;
    this.prolonged = Date.now();
    this.model.base = session.base;
    if (!this.tell) this.join();
    if (isNew) this.tell({renew: true});
    else if (this.isForgotten) this.tell({again: true});
    this.isForgotten = false;
    this.report();
    return session;
  }

  // Forgets the session with everything that was received in it.
  forget() {
    if (this.session) this.isForgotten = true;
    this.session = null;
    this.touch = null;
    this.model.forget();
    this.isArriving = false;
    this.remembered.clear();
    this.report();
  }

  async logout() {
    await this.posted("logout", {});
    this.forget();
    this.tell({ended: true});
  }

  // Reads when a tag was connected before the page was opened, once for each of a few tags.
  remember(id) {
    if (this.remembered.has(id) || this.remembered.size >= mostRemembered) return;
    this.remembered.add(id);
    readHistory(id, 1).then(data => { if (data) this.model.remember(id, data); }, () => this.remembered.delete(id));
  }

  // Tells the server that the page is shown, which prolongs the session; at most once in an interval.
  prolong(interval) {
    if (!this.session || document.hidden || Math.abs(Date.now() - this.prolonged) < interval) return;
    this.prolonged = Date.now();
    answered("session", {}).then(({response}) => { if (response.status === 401) this.onSessionLost(); }, () => {});
  }

  // The sessions of all browsers and devices.
  async sessions() {
    try {
      const {response, body} = await answered("sessions", {});
      return response.ok ? {ok: true, data: body.sessions} : this.refused(response, body);
    } catch { return {ok: false, text: "error: the page's server does not answer"}; }
  }

  async endSession(id) {
    try {
      const {response, body} = await this.posted("sessions", {end: id});
      return response.ok ? {ok: true, isDone: true, text: "ended"} : this.refused(response, body);
    } catch { return {ok: false, text: "error: the page's server does not answer"}; }
  }

  async posted(address, document) {
    const answer = await answered(address, post(document, this.headers()));
    if (answer.body.error?.code !== "wrong_token") return answer;
    // Another page of this browser has logged in, or the server has started again.
    await this.renewed();
    return answered(address, post(document, this.headers()));
  }

  refused(response, body) {
    if (response.status === 401) this.onSessionLost();
    return {ok: false, text: `error: ${body.error?.text ?? response.status}`};
  }

  headers() { return {"X-Token": this.session?.token ?? ""}; }

  // Whether the user's role may publish to a topic such as "tag/003R/led/set".
  may(topic) {
    const levels = topic.split("/");
    return (this.session?.writable ?? []).some(filter => {
      const parts = filter.split("/");
      return parts.length === levels.length && parts.every((part, index) => part === "+" || part === levels[index]);
    });
  }

  // MARK: The hub

  join() {
    // A worker of another version of the page is another worker.
    const name = `jacquard ${this.session.version}`;
    const worker = "SharedWorker" in window ? new SharedWorker("shared.js", {type: "module", name}) : null;
    if (!worker) return this.joinOwn();
    const start = setTimeout(() => this.joinOwn(), longestStart);
    worker.onerror = () => { clearTimeout(start); this.joinOwn(); };
    worker.port.onmessage = event => {
      if (this.hub) return;
      if (event.data.name === "hello") return clearTimeout(start);
      this.receive(event.data);
      worker.port.postMessage({read: 1});
    };
    this.tell = message => worker.port.postMessage(message);
  }

  // In a browser without shared workers.
  joinOwn() {
    if (this.hub) return;
    this.hub = new Hub();
    const tell = this.hub.join(message => { this.receive(message); tell?.({read: 1}); });
    this.tell = tell;
    this.report();
  }

  // A page that is hidden needs the stream only while it waits for a result.
  report() {
    const isShown = this.session !== null && (!document.hidden || this.waiting.size > 0);
    if (isShown && !this.isShown) this.model.server.shown = Date.now();
    this.isShown = isShown;
    this.tell?.({isShown, touch: this.touch});
  }

  leave() { this.tell?.({left: true}); }

  receive({name, value}) {
    // A page without a session only hears of the next login.
    if (!this.session && name !== "renew") return;
    const model = this.model, hadFew = model.tags.size <= manyTags;
    const list = value => (typeof value === "string" ? JSON.parse(value) : value);
    switch (name) {
      case "broker":
        model.heard(value);
        break;
      case "reset":
        model.reset();
        this.isArriving = true;
        return;
      case "mirror":
        for (const message of list(value)) model.apply(message);
        // The first rows of many tags don't wait for the others.
        if (!hadFew || model.tags.size <= manyTags) return;
        this.isArriving = false;
        break;
      case "history":
        // The facts are complete before it.
        this.isArriving = false;
        for (const message of list(value)) this.apply(message, true);
        return;
      case "ready":
        model.isReady = true;
        // What was drawn of them did not know what is missing, such as their bridge.
        for (const id of model.tags.keys()) model.changedTags.add(id);
        break;
      case "message": return this.handle(value);
      case "lost":
        model.server.isLost = true;
        this.isArriving = false;
        break;
      case "renew": return this.renewed();
      case "ended": return this.onSessionLost();
    }
    this.onChange();
  }

  // Another page of this browser has logged in.
  async renewed() {
    const {user, role} = this.session ?? {};
    try {
      const answer = await this.open();
      if (answer.login || answer.user !== user || answer.role !== role) this.onSession(answer);
    } catch { /* the header says that the server is away */ }
  }

  // Shows the touch stream of a tag, or of none.
  watchTouch(id) {
    if (this.touch === id || !this.session) return;
    this.touch = id;
    this.report();
  }

  apply(message, isHistory) {
    const change = this.model.apply(message, isHistory);
    const id = change?.value?.id;
    if (typeof id === "string" && (change.rest.endsWith("result") || change.rest.startsWith("response/"))) this.settle(id, change.value);
    return change;
  }

  handle(message) {
    const change = this.apply(message, false);
    if (!change) return;
    this.onMessage(change);
    this.onChange();
  }

  // MARK: Commands

  settle(id, value) {
    const entry = this.waiting.get(id);
    if (!entry) {
      // The result may arrive before the response to the command.
      this.early.set(id, value);
      if (this.early.size > 50) this.early.delete(this.early.keys().next().value);
      return;
    }
    if (value.status === "accepted") return entry.accepted?.(value);
    entry.resolve(describe(value, performance.now() - entry.begin));
  }

  // Sends a command. Resolves to {ok, text, data}. `sent` is called when the server has it, and `accepted` when the bridge has it.
  async send(topic, payload, {sent, accepted, timeout = 15000} = {}) {
    if (!this.session) return {ok: false, text: "error: not sent, you are not logged in"};
    const begin = performance.now();
    const command = {topic: `${this.model.base}/${topic}`, payload};
    let response, body;
    try {
      ({response, body} = await this.posted("publish", command));
    } catch (error) {
      const text = error.name === "TimeoutError"
        ? `error: the page's server has not answered within ${longestAnswer / 1000} s; it is not known whether it has the command`
        : "error: not sent, the page's server does not answer";
      return {ok: false, text};
    }
    if (!response.ok) return this.refused(response, body);
    sent?.();
    const result = new Promise(resolve => this.waiting.set(body.id, {resolve, accepted, begin}));
    const timer = setTimeout(() => this.waiting.get(body.id).resolve(
      {ok: false, isTimeout: true, text: `no answer from a bridge within ${timeout / 1000} s`}), timeout);
    this.report();
    const early = this.early.get(body.id);
    this.early.delete(body.id);
    if (early) this.settle(body.id, early);
    const answer = await result;
    clearTimeout(timer);
    this.waiting.delete(body.id);
    this.report();
    return answer;
  }
}

async function answered(address, options) {
  const response = await fetch(address, {cache: "no-store", signal: AbortSignal.timeout(longestAnswer), ...options});
  return {response, body: await response.json()};
}

// The rows of the charts of a tag for one day or seven, with times in milliseconds, up to the end of the present slot; null without them.
export async function readHistory(tag, days) {
  const {response, body} = await answered(`history?tag=${encodeURIComponent(tag)}&days=${days}`, {});
  if (!response.ok) return null;
  const slot = body.slot_s * 1000;
  return {...body, slot, hour: body.hour_s * 1000, end: (Math.floor(body.time_s / body.slot_s) + 1) * slot};
}

function post(body, headers) {
  return {method: "POST", headers: {"Content-Type": "application/json", ...headers}, body: JSON.stringify(body)};
}

// The time is the user's, with the ways to the bridge and back.
function describe(result, milliseconds) {
  if (result.status === "ok") return {ok: true, isDone: true, text: `ok, answered in ${exactSpan(milliseconds)}`, data: result.data};
  const error = result.error ?? {};
  const hint = error.hint ? ` (${error.hint})` : "";
  return {ok: false, text: `error: ${error.text ?? error.code ?? "unknown"}${hint}`, code: error.code, data: result.data};
}
