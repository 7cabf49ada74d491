// The facts of bridges and tags, made from messages.

import {isEndOfTag, longestSilence} from "./hub.js";
import {noteStay, remembered, today} from "./stays.js";
import {sentence, typed} from "./values.js";

// How long a page that has just been opened or shown says nothing about a server that it has not heard yet, in milliseconds.
const patience = 2000;
// A hidden page hears from the server every 15 s.
const longestSilenceHidden = 40000;
// By how much a clock may be ahead, in milliseconds, so that its times are still used.
const clockTolerance = 10000;

// The states of a pairing by its events.
const pairingStates = {
  pair_started: "searching", pair_found: "found", pair_pairing: "pairing", pair_connecting: "connecting", paired: "paired", pair_failed: "failed",
};
// How long a bridge that has started takes at most to say what has changed, in milliseconds. One that had only lost its broker has nothing to say.
const sayingTime = 5000;
// How long a pairing takes at most, in milliseconds.
const longestPairing = 660000;

export class Model {
  constructor() {
    this.base = "jacquard";
    this.tags = new Map();
    this.bridges = new Map();
    // When bridges were last away, as far as the server has seen it: {from_ms, to_ms} by name.
    this.absences = new Map();
    this.events = [];
    this.log = [];
    // How often the log has changed.
    this.logChanges = 0;
    this.advertisements = new Map();
    this.gestures = new Map();
    // Since when each tag was connected or offline: [{at, isOnline}] by id.
    this.stays = new Map();
    // What the server remembers of the tags' connections, before the page has heard of them, and of their gestures.
    this.pasts = new Map();
    // When the bridge of a tag was online again, until it has said whether the tag is connected.
    this.unsaid = new Map();
    this.hearAgain();
    // What the browser's clock lacks.
    this.offset = 0;
    this.changedTags = new Set();
    // When the counters of each tag were received.
    this.statsAt = new Map();
    // How often a tag was removed, by id.
    this.removals = new Map();
    // Whether all facts were received.
    this.isReady = false;
    // Whether a second has passed, so that ages such as "4 s ago" change.
    this.isNextSecond = false;
  }

  reset() {
    // What happens until the facts are received again is not known.
    for (const stays of this.stays.values()) noteStay(stays, this.lastHeard(), null);
    this.tags.clear();
    this.bridges.clear();
    this.absences.clear();
    this.unsaid.clear();
    this.statsAt.clear();
    this.events = [];
    this.log = [];
    this.gestures.clear();
    this.isReady = false;
  }

  // Forgets everything, as after the end of a session.
  forget() {
    this.reset();
    this.advertisements.clear();
    this.changedTags.clear();
    this.removals.clear();
    this.stays.clear();
    this.pasts.clear();
    this.unsaid.clear();
    this.hearAgain();
  }

  hearAgain() {
    this.broker = {connected: false, since_ms: Date.now(), heard_ms: Date.now(), text: ""};
    // When the page was shown and when it has last heard from the server, by the browser's clock, and whether the stream is broken.
    this.server = {shown: Date.now(), heard: null, isLost: false};
  }

  // MARK: Ages

  // The server's time: clocks of browsers are often wrong.
  now() { return Date.now() + this.offset; }

  // A sign of life of the server: the state of the broker's connection and the server's time, and how long ago that was.
  heard({age, ...broker}) {
    const heard = Date.now() - age;
    this.broker = broker;
    this.server = {...this.server, heard, isLost: false};
    this.offset = broker.now_ms - heard;
  }

  // The browser's clock may have been set back.
  checkClock() {
    const {shown, heard} = this.server, now = Date.now();
    this.server = {...this.server, shown: Math.min(shown, now), heard: heard === null ? null : Math.min(heard, now)};
  }

  // Until when what the page shows was true, by the server's clock.
  lastHeard() {
    if (this.isCurrent()) return this.now();
    return this.broker.connected ? (this.server.heard ?? Date.now()) + this.offset : Math.min(this.broker.heard_ms, this.now());
  }

  isServerHeard(isHidden = false) {
    const {shown, heard, isLost} = this.server;
    if (heard === null) return false;
    if (isHidden) return Date.now() - heard < longestSilenceHidden;
    return !isLost && Date.now() - Math.max(shown, heard) < (heard < shown ? patience : longestSilence);
  }

  // Whether what the page shows is true now.
  isCurrent(isHidden) { return this.isServerHeard(isHidden) && this.broker.connected; }

  // Why what the page shows is not current, and how old it is at least: {problem, age}; null if it is current.
  staleness(isHidden) {
    const {shown, heard} = this.server;
    if (heard === null) {
      const waited = Date.now() - shown;
      return waited < patience ? null : {problem: "The page's server does not answer.", rest: "Connecting."};
    }
    const age = this.broker.connected ? Date.now() - heard : this.now() - this.broker.heard_ms;
    const rest = `What you see is at least ${span(age)} old. Reconnecting.`;
    if (!this.isServerHeard(isHidden)) return {problem: "The page's server does not answer.", rest};
    if (!this.broker.connected) return {problem: "The broker is not connected:", rest: `${sentenceEnd(this.broker.text)} ${rest}`};
    return null;
  }

  // MARK: Messages

  // Returns what the message is about: {kind, id, name, value}; null if it concerns no page.
  apply(message, isHistory = false) {
    const levels = message.topic.slice(this.base.length + 1).split("/");
    const [kind, id] = levels;
    if (kind !== "tag" && kind !== "bridge") return null;
    const rest = levels.slice(2).join("/");
    const name = rest === "battery/forecast" ? "forecast" : levels[2];
    const value = typed(kind, name, rest, parse(message.payload));
    if (isEndOfTag(message)) {
      this.gestures.delete(id);
      this.stays.delete(id);
      this.pasts.delete(id);
      this.unsaid.delete(id);
      this.statsAt.delete(id);
      this.removals.set(id, this.removalsOf(id) + 1);
    }
    // In the history, facts are those of a tag that was removed.
    if (isHistory && message.retained) return null;
    if (kind === "tag") {
      this.changedTags.add(id);
      if (message.retained) this.setTagFact(id, name, message, value);
      else if (name === "gesture") this.addGesture(id, value, message, isHistory);
      if (rest.endsWith("/result") || name === "gesture") this.addEvent(message, value);
    } else {
      if (name === "state") {
        const isBack = this.isReady && message.payload === "online" && this.bridges.get(id)?.state !== "online";
        for (const tag of this.tags.keys()) {
          if (this.bridgeOf(tag) !== id) continue;
          this.noteStay(tag);
          this.changedTags.add(tag);
          if (isBack) this.unsaid.set(tag, this.now());
        }
        if (message.away) this.absences.set(id, message.away);
        else this.absences.delete(id);
        this.setFact(this.bridges, id, "silence", message.silent ? message.payload : "", message.silent);
      }
      if (name === "event") this.notePairing(id, value, message);
      if (message.retained) this.setFact(this.bridges, id, name, message.payload, value);
      else if (name === "log") this.addLog(id, value);
      else if (name === "advertisement") this.addAdvertisement(id, value, message);
      // What a tag's page asks by itself is no event.
      else if (rest !== "response/battery_history") this.addEvent(message, value);
    }
    return {kind, id, name, rest, value, isHistory};
  }

  setFact(map, id, name, payload, value) {
    if (payload === "") {
      const known = map.get(id);
      if (known) delete known[name];
      if (known && Object.keys(known).length === 0) map.delete(id);
      return;
    }
    if (!map.has(id)) map.set(id, {});
    map.get(id)[name] = value;
  }

  setTagFact(id, name, message, value) {
    const isState = name === "availability" || name === "connection";
    if (isState) this.noteStay(id);
    if (name === "connection") this.unsaid.delete(id);
    if (name === "stats") this.statsAt.set(id, Date.now());
    this.setFact(this.tags, id, name, message.payload, value);
    if (isState) this.noteStay(id, receivedAt(message) ?? undefined);
  }

  // Notes since when a tag is online or offline, which is not known while its bridge is away. A tag with a link that does not answer is offline
  // since a time other than that of its connection.
  noteStay(id, at = this.lastHeard()) {
    const {availability, connection} = this.tags.get(id) ?? {};
    if (!this.isReady || !availability) return;
    if (!this.stays.has(id)) this.stays.set(id, []);
    const bridge = this.bridgeOf(id), isKnown = !this.isBridgeOffline(bridge) && !this.isBridgeUnknown(bridge) && !(this.now() - this.unsaid.get(id) < sayingTime);
    const since = Date.parse(connection?.since ?? ""), isOnline = availability === "online";
    const hasTime = !Number.isNaN(since) && since <= at && (isOnline || connection.state !== "connected");
    noteStay(this.stays.get(id), !isKnown ? this.absences.get(bridge)?.from_ms ?? at : hasTime ? since : at, isKnown ? isOnline : null);
  }

  today(id) {
    this.noteStay(id);
    const stays = this.stays.get(id) ?? [];
    const past = this.pasts.get(id), known = remembered(past, stays[0]?.at ?? this.lastHeard());
    return today([...known, ...stays], this.gestures.get(id) ?? [], this.lastHeard(), this.now(), past?.gestures);
  }

  // Keeps the server's rows of a day: whether a tag was online in slots of so many milliseconds, the last one of which ends then; and how many
  // gestures were made in each hour.
  remember(id, {connection, slot, end, gestures, hour}) {
    const first = Math.ceil(end / hour) - gestures.length;
    this.pasts.set(id, {slots: connection, slot, start: end - connection.length * slot, gestures: {hour, counts: new Map(gestures.map((count, index) => [first + index, count ?? 0]))}});
    this.changedTags.add(id);
  }

  addGesture(id, value, message, isHistory) {
    if (!value) return;
    const {hour, counts} = this.pasts.get(id)?.gestures ?? {}, at = receivedAt(message);
    if (counts && at !== null && !isHistory) counts.set(Math.floor(at / hour), (counts.get(Math.floor(at / hour)) ?? 0) + 1);
    const list = this.gestures.get(id) ?? [];
    // Of the newest one, also the message itself.
    if (list.length > 0) delete list[0].payload;
    list.unshift({...value, at: receivedAt(message) ?? value.time, payload: sentence(message.payload)});
    list.length = Math.min(list.length, 50);
    this.gestures.set(id, list);
  }

  notePairing(id, value, message) {
    const state = pairingStates[value?.type], bridge = this.bridges.get(id);
    if (state && bridge) bridge.pairingEvent = {state, serial: value.serial, error: {text: value.text}, at: receivedAt(message) ?? 0};
  }

  addEvent(message, value) {
    this.events.unshift({topic: message.topic, value, at: receivedAt(message) ?? value?.time});
    if (this.events.length > 500) this.events.length = 500;
  }

  addLog(bridge, value) {
    if (!value) return;
    const record = {bridge, ...value};
    // Records of the past arrive after newer ones, and some of them twice.
    let index = this.log.findIndex(({time}) => !(time > record.time));
    if (index < 0) index = this.log.length;
    for (let other = index; other < this.log.length && this.log[other].time === record.time; other += 1) {
      if (isSameRecord(this.log[other], record)) return;
    }
    this.log.splice(index, 0, record);
    if (this.log.length > 1000) this.log.length = 1000;
    this.logChanges += 1;
  }

  addAdvertisement(bridge, value, message) {
    const at = receivedAt(message);
    if (!value || at === null) return;
    this.advertisements.set(`${bridge} ${value.serial ?? value.address}`, {bridge, ...value, at});
    if (this.advertisements.size > 200) this.advertisements.delete(this.advertisements.keys().next().value);
  }

  // A bridge that is offline or was removed leaves the availability of its tags as it was.
  isOnline(id) {
    const bridge = this.bridgeOf(id);
    return this.tags.get(id)?.availability === "online" && !this.isBridgeOffline(bridge) && !this.isBridgeUnknown(bridge);
  }
  isBridgeOffline(name) { return this.bridges.get(name)?.state !== undefined && !this.isBridgeOnline(name); }
  isBridgeUnknown(name) { return Boolean(name) && this.isReady && this.bridges.get(name)?.state === undefined; }
  stateText(id, now) {
    const bridge = this.bridgeOf(id);
    return this.isBridgeOffline(bridge) ? `bridge ${offlineText(this.bridges.get(bridge))}` : this.isBridgeUnknown(bridge) ? "bridge not known" : stateText(this.tags.get(id), now);
  }
  bridgeOf(id) { return this.tags.get(id)?.info?.bridge ?? null; }
  isBridgeOnline(name) { return isOnline(this.bridges.get(name)); }
  onlineBridges() { return [...this.bridges.keys()].filter(name => this.isBridgeOnline(name)).sort(); }
  removalsOf(id) { return this.removals.get(id) ?? 0; }
  // The groups of a tag, by its bridge.
  groupsOf(id) {
    const groups = this.bridges.get(this.bridgeOf(id))?.info?.groups ?? {};
    return Object.keys(groups).filter(name => groups[name].includes(id));
  }
  tagName(id) { return this.tags.get(id)?.info?.name ?? ""; }

  // How far the pairing of a bridge has come: {state, serial, error}; its events say so while it does not announce its tags.
  pairingOf(name) {
    const {pairing, pairingEvent: event} = this.bridges.get(name) ?? {};
    return pairing ?? (event && this.now() - event.at < longestPairing ? event : null);
  }

  // What keeps all tags of a bridge from working: {text, bridge}.
  notices() {
    if (!this.isReady) return [];
    return [...this.bridges].sort(([one], [other]) => (one < other ? -1 : 1)).flatMap(([name, bridge]) => {
      const count = [...this.tags.values()].filter(tag => tag.info?.bridge === name).length;
      const tags = count === 1 ? "its tag" : `its ${count} tags`;
      if (count === 0) return [];
      if (this.isBridgeOffline(name)) return [{bridge: name, text: `The bridge ${name} is ${offlineText(bridge)}: ${tags} cannot be reached.`}];
      const {state, adapter} = bridge;
      if (state !== "online" || !adapter || adapter.some(each => each.state === "powered_on")) return [];
      const cause = adapter.length === 0 ? "has no Bluetooth adapter" : "has its Bluetooth off";
      return [{bridge: name, text: `The bridge ${name} ${cause}: ${tags} cannot be reached.`}];
    });
  }

  totals() {
    const ids = [...this.tags.keys()];
    const online = ids.filter(id => this.isOnline(id)).length;
    const low = ids.filter(id => isLow(this.tags.get(id).battery)).length;
    return {tags: ids.length, online, offline: ids.length - online, low};
  }
}

// Whether a bridge is online. One that is online by its last message only, and does not answer, has a silence: {state, remedies} in the
// server's words.
export function isOnline(bridge) {
  return bridge?.state === "online" && !bridge.silence;
}

// The state of a bridge that is not online, in words.
export function offlineText(bridge) {
  return bridge?.silence?.state ?? "offline";
}

function parse(payload) {
  try { return JSON.parse(payload); } catch { return payload; }
}

// The adapter of a radio has the name of the radio: adapters of two hosts can have the same id.
export function adapterName({id, radio}) {
  return !radio || radio === id ? id : `${radio} (${id})`;
}

export function isLow(battery) {
  return typeof battery?.level === "number" && battery.level <= 20 && battery.charging !== true;
}

// When the server has received a message as it was published, by its clock; null for one that the broker had stored.
function receivedAt({received_ms: time}) {
  return Number.isFinite(time) ? time : null;
}

// Whether a time that has passed is in the future: the clock of its bridge is wrong, and the time may be long ago.
export function isWrong(time, now) {
  return time - now > clockTolerance;
}

// "20 s ago", in steps that don't change while they are read. `now` is the server's time.
export function age(time, now) {
  const then = typeof time === "number" ? time : Date.parse(time);
  if (Number.isNaN(then)) return "";
  if (isWrong(then, now)) return "at an unknown time";
  return now - then < 10000 ? "just now" : `${span(now - then)} ago`;
}

// A duration, rounded down.
export function span(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < 10) return "a few seconds";
  if (seconds < 60) return `${Math.floor(seconds / 10) * 10} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} days`;
}

// A duration that has been measured, such as "40 ms" or "3.0 s".
export function exactSpan(milliseconds) {
  return milliseconds < 999.5 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

export function capitalized(text) {
  return `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}`;
}

// A text that may be a sentence already, as one.
export function sentenceEnd(text) {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

// Returns how a date is written. The browser's format is made when it is first used, because that takes long.
export function dateFormat(options) {
  let format = null;
  return date => (format ??= new Intl.DateTimeFormat(undefined, options)).format(date);
}

const clock = dateFormat({hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, hour12: false});
const shortClock = dateFormat({hour: "2-digit", minute: "2-digit", hour12: false});

// A record of the past may have the number of those that the bridge has left out in its own log.
function isSameRecord(one, other) {
  const text = ({bridge, label, message, fields}) => JSON.stringify([bridge, label, message, {...fields, repeated: null}]);
  return text(one) === text(other);
}

export function clockTime(time) {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : clock(date);
}

export function shortTime(time) {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : shortClock(date);
}

const daytime = dateFormat({hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false});

// The time of day to the second, with the date unless it is today.
export function dayTime(time, now) {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "an unknown time";
  return dated(date, daytime(date), now);
}

function dated(date, time, now) {
  return date.toDateString() === new Date(now).toDateString() ? time : `${date.toLocaleDateString()} ${time}`;
}

const day = dateFormat({weekday: "long", day: "numeric", month: "long"});

// The day of a time: "Today", "Yesterday" or its date; "" if the time is unknown.
export function dayName(time, now) {
  const date = new Date(time), before = new Date(now);
  if (Number.isNaN(date.getTime())) return "";
  if (date.toDateString() === before.toDateString()) return "Today";
  before.setDate(before.getDate() - 1);
  return date.toDateString() === before.toDateString() ? "Yesterday" : day(date);
}

// Replaces times such as 2026-11-20T10:15:02.114Z in a text by those of this time zone, with the date unless it is today.
export function localTimes(text, now) {
  return String(text).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, time => {
    const date = new Date(time);
    if (Number.isNaN(date.getTime())) return time;
    return dated(date, shortTime(time), now);
  });
}

// Whether a tag waits for a command, as one with connect: on_demand does: it is online without a link.
export function connectsOnDemand(tag) {
  return tag?.availability === "online" && ["disconnected", "preparing_to_connect"].includes(tag.connection?.state);
}

// The state of a tag in words.
export function stateText(tag, now) {
  const connection = tag.connection;
  const isOnline = tag.availability === "online";
  if (!connection) return isOnline ? "connected" : "offline";
  if (connectsOnDemand(tag)) return "ready, connects on demand";
  if (isOnline && connection.state === "connected") return "connected";
  if (connection.state === "disconnected" && !connection.error) return `disconnected ${sinceText(connection.since, now)}`.trim();
  switch (connection.state) {
    case "connected": return "not answering";
    // Of a tag that should be connected: Bluetooth is off, or the bond is lost.
    case "disconnected":
    case "preparing_to_connect": {
      const seen = connection.last_seen ?? connection.since;
      return `offline ${sinceText(seen, now)}`.trim();
    }
    default: return connection.of ? `${connection.state} ${connection.step} of ${connection.of}` : String(connection.state);
  }
}

function sinceText(time, now) {
  const then = Date.parse(time);
  return Number.isNaN(then) || isWrong(then, now) ? "" : `for ${span(Math.max(0, now - then))}`;
}

export function batteryText(battery) {
  if (typeof battery?.level !== "number") return "";
  const charging = battery.charging === true ? ", charging" : "";
  return `${battery.level} %${charging}${isLow(battery) ? ", low" : ""}`;
}

// Until when the battery lasts, roughly.
export function forecastText(forecast, now) {
  const hours = (Date.parse(forecast?.empty ?? "") - now) / 3600000;
  if (!(hours > -24)) return "";
  if (hours < 1) return "nearly empty";
  return hours < 48 ? `about ${Math.round(hours)} h left` : `about ${Math.round(hours / 24)} days left`;
}

// What a presence says about a tag; "" if the bridge publishes none.
export function presenceText(presence, now) {
  if (!presence?.state) return "";
  const advice = presence.state === "asleep" ? ". Touch it or move it; it advertises for one minute then" : "";
  return `${words(presence.state)} (${age(presence.since, now)})${advice}`;
}

export function words(text) {
  return String(text ?? "").replaceAll("_", " ");
}
