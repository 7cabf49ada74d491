// The connection to the page's server: the session, the stream of events and commands.

export class Connection {
  constructor(model) {
    this.model = model;
    this.session = null;
    this.source = null;
    this.touch = null;
    this.waiting = new Map();
    this.early = new Map();
    this.onChange = () => {};
    this.onMessage = () => {};
    this.onSessionLost = () => {};
  }

  // Returns the session, or how to log in.
  async open() {
    const response = await fetch("session", {cache: "no-store"});
    const body = await response.json();
    if (response.ok) return this.begin(body);
    if (response.status === 401 && body.login === "ingress") return this.login({});
    return {login: body.login ?? "none", text: body.error?.text};
  }

  async login(body) {
    const response = await post("login", body, {});
    const answer = await response.json();
    if (!response.ok) return {login: "failed", text: answer.error?.text ?? `The server answered ${response.status}.`};
    return this.begin(answer);
  }

  begin(session) {
    this.session = session;
    this.model.base = session.base;
    this.listen();
    return session;
  }

  async logout() {
    await post("logout", {}, this.headers());
    this.source?.close();
    this.session = null;
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

  listen() {
    this.source?.close();
    const address = this.touch ? `events?touch=${encodeURIComponent(this.touch)}` : "events";
    const source = new EventSource(address);
    this.source = source;
    const model = this.model;
    let facts = null;
    source.addEventListener("broker", event => {
      model.broker = JSON.parse(event.data);
      this.setServer(true);
      this.onChange();
    });
    source.addEventListener("mirror", event => {
      // The server sends everything again: facts that are not among them are gone.
      if (!facts) { facts = true; model.reset(); }
      for (const message of JSON.parse(event.data)) model.apply(message);
    });
    source.addEventListener("history", event => {
      if (!facts) { facts = true; model.reset(); }
      for (const message of JSON.parse(event.data)) model.apply(message, true);
    });
    source.addEventListener("ready", () => {
      facts = null;
      model.isReady = true;
      this.onChange();
    });
    source.addEventListener("resume", () => this.onChange());
    source.addEventListener("touch", event => this.handle(JSON.parse(event.data)));
    source.addEventListener("message", event => this.handle(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      facts = null;
      this.setServer(false);
      if (source.readyState === EventSource.CLOSED) this.reopen(source);
    });
  }

  // The browser gives up after a response other than 200: the session has ended, or a proxy reported an error.
  reopen(source) {
    setTimeout(async () => {
      if (this.source !== source) return;
      try {
        const response = await fetch("session", {cache: "no-store"});
        if (response.status === 401) return this.onSessionLost();
        if (response.ok) return this.listen();
      } catch { /* the server is still away */ }
      this.reopen(source);
    }, 1000);
  }

  setServer(connected) {
    if (this.model.server.connected === connected) return;
    this.model.server = {connected, since: Date.now()};
    this.onChange();
  }

  // Shows the touch stream of a tag, or of none.
  watchTouch(id) {
    if (this.touch === id || !this.session) return;
    this.touch = id;
    this.listen();
  }

  handle(message) {
    const change = this.model.apply(message);
    if (!change) return;
    const id = change.value?.id;
    if (typeof id === "string" && (change.rest.endsWith("result") || change.rest.startsWith("response/"))) this.settle(id, change.value);
    this.onMessage(change);
    this.onChange();
  }

  settle(id, value) {
    const entry = this.waiting.get(id);
    if (!entry) {
      // The result may arrive before the response to the command.
      this.early.set(id, value);
      if (this.early.size > 50) this.early.delete(this.early.keys().next().value);
      return;
    }
    if (value.status === "accepted") return entry.accepted?.(value);
    this.waiting.delete(id);
    clearTimeout(entry.timer);
    entry.resolve(describe(value, performance.now() - entry.begin));
  }

  // Sends a command. Resolves to {ok, text, data}.
  async send(topic, payload, {accepted, timeout = 15000} = {}) {
    const begin = performance.now();
    let response, body;
    try {
      response = await post("publish", {topic: `${this.model.base}/${topic}`, payload}, this.headers());
      body = await response.json();
    } catch {
      return {ok: false, text: "error: the page's server does not answer"};
    }
    if (!response.ok) {
      if (response.status === 401) this.onSessionLost();
      return {ok: false, text: `error: ${body.error?.text ?? response.status}`};
    }
    return new Promise(resolve => {
      const timer = setTimeout(() => {
        this.waiting.delete(body.id);
        resolve({ok: false, isTimeout: true, text: `no answer from a bridge within ${timeout / 1000} s`});
      }, timeout);
      this.waiting.set(body.id, {resolve, accepted, timer, begin});
      const early = this.early.get(body.id);
      this.early.delete(body.id);
      if (early) this.settle(body.id, early);
    });
  }
}

function post(address, body, headers) {
  return fetch(address, {
    method: "POST", headers: {"Content-Type": "application/json", ...headers}, body: JSON.stringify(body), cache: "no-store",
  });
}

function describe(result, milliseconds) {
  if (result.status === "ok") {
    const took = result.took_ms ?? Math.round(milliseconds);
    return {ok: true, text: `ok, answered in ${took} ms`, data: result.data};
  }
  const error = result.error ?? {};
  const hint = error.hint ? ` (${error.hint})` : "";
  return {ok: false, text: `error: ${error.text ?? error.code ?? "unknown"}${hint}`, code: error.code, data: result.data};
}
