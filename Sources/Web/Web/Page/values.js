// The types of the values that the page shows. Every program that may publish can send other ones. They are left out here, so that the
// rest of the page relies on the types: a value has its type, or is null or undefined.

const text = value => (value === null || typeof value === "string" ? value : undefined);
// Texts of other programs have a length that the layout has a place for.
const clipped = most => value => (typeof value === "string" && value.length > most ? `${[...value.slice(0, 2 * most)].slice(0, most - 1).join("")}\u2026` : text(value));
const label = clipped(48);
export const sentence = clipped(500);
const number = value => (value === null || Number.isFinite(value) ? value : undefined);
const flag = value => (value === null || typeof value === "boolean" ? value : undefined);
const scalar = value => text(value) ?? number(value) ?? flag(value);
// Only whether there is a value is of interest.
const anything = () => true;

const isObject = value => typeof value === "object" && value !== null && !Array.isArray(value);

// An object with these keys; other keys are left out.
function object(types) {
  return value => {
    if (!isObject(value)) return value === null ? null : undefined;
    const known = Object.entries(types).filter(([key]) => Object.hasOwn(value, key)).map(([key, type]) => [key, type(value[key])]);
    return Object.fromEntries(known.filter(([, each]) => each !== undefined));
  };
}

// A list without null.
function list(type) {
  return value => (Array.isArray(value) ? value.map(type).filter(each => each !== undefined && each !== null) : undefined);
}

// An object with any keys. A value that is a list or an object becomes JSON.
function fields(value) {
  if (!isObject(value)) return undefined;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, typeof each === "object" && each !== null ? JSON.stringify(each) : scalar(each)]));
}

// Lists of texts by name.
function lists(value) {
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, each]) => [label(name), list(label)(each) ?? []])) : undefined;
}

const error = object({code: label, text: sentence, hint: sentence});
const check = object({name: text, title: label, verdict: text, found: value => sentence(value) ?? scalar(value), remedies: list(sentence)});
const result = object({
  id: text, status: text, took_ms: number, time: text, error,
  data: object({
    id: text, chain: list(text), broken: text, checks: list(check), since: text, until: text, level: text, tag: text,
    gestures: list(object({tag: text, seq: number, stage: text, waited_for: text, time: text})),
    incidents: list(object({tag: text, type: text, time: text, code: text})),
    seen: list(object({serial: label, address: label, name: label, rssi: number, known: flag})),
    points: list(object({level: number, time: text})),
  }),
});

const types = {
  tag: new Map(Object.entries({
    availability: text, touch_mode: text, rssi: number, led: anything,
    connection: object({
      state: text, step: number, of: number, attempt: number, adapter: text, radio: label, since: text, last_seen: text, retry_at: text, error,
    }),
    battery: object({level: number, charging: flag, time: text}),
    forecast: object({empty: text}),
    find: text,
    presence: object({state: text, since: text, inferred: flag}),
    gear: object({attached: flag, vendor: label, product: label, capabilities: list(label)}),
    info: object({name: label, tag_name: label, bridge: label, serial: label, firmware: label, address: label, chords: list(label)}),
    stats: object({reconnects: number, lost_fragments: number, expired: number, last_seq: number, boot: scalar}),
    gesture: object({event_type: label, seq: number, boot: scalar, time: text, of: list(number)}),
    touch: object({lines: list(number), proximity: number}),
  })),
  bridge: new Map(Object.entries({
    state: text, scan: anything, tags: anything,
    info: object({version: label, bluez: label, mqtt: scalar, started: text, boot: text, groups: lists}),
    pairing: object({state: text, serial: label, time: text, hint: sentence, error: object({text: sentence})}),
    health: object({
      status: label, problems: list(object({code: label, text: sentence})), rss_kb: number, broker_reconnects: number, dropped: number,
    }),
    adapter: list(object({id: label, radio: label, state: label, connected: number, discovering: flag})),
    advertisement: object({serial: label, address: label, name: label, rssi: number, known: flag}),
    event: object({type: label, id: label, serial: label, adapter: label, text: sentence, time: text}),
    log: value => (isObject(value) ? {...fields(value), fields: fields(value.fields)} : undefined),
    response: result,
  })),
};

// The value of a message's topic, with what has another type left out.
export function typed(kind, name, rest, value) {
  const type = rest.endsWith("/result") ? result : types[kind].get(name);
  return type?.(value);
}
