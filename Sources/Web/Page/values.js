// The types of the values that the page shows. Every program that may publish can send other ones. They are left out here, so that the
// rest of the page relies on the types: a value has its type, or is null or undefined.

const text = value => (value === null || typeof value === "string" ? value : undefined);
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

const error = object({code: text, text, hint: text});
const check = object({name: text, title: text, verdict: text, found: scalar, remedies: list(text)});
const result = object({
  id: text, status: text, took_ms: number, time: text, error,
  data: object({id: text, chain: list(text), broken: text, checks: list(check)}),
});

const types = {
  tag: new Map(Object.entries({
    availability: text, touch_mode: text, rssi: number, led: anything,
    connection: object({
      state: text, step: number, of: number, attempt: number, adapter: text, since: text, last_seen: text, retry_at: text, error,
    }),
    battery: object({level: number, charging: flag, time: text}),
    gear: object({attached: flag, vendor: text, product: text}),
    info: object({name: text, bridge: text, serial: text, firmware: text, address: text}),
    stats: object({reconnects: number, lost_fragments: number, expired: number}),
    gesture: object({event_type: text, seq: number, boot: scalar, time: text, of: list(number)}),
    touch: object({lines: list(number), proximity: number}),
  })),
  bridge: new Map(Object.entries({
    state: text, scan: anything, tags: anything,
    info: object({version: text, bluez: text, mqtt: scalar, started: text}),
    health: object({
      status: text, problems: list(object({code: text, text})), rss_kb: number, broker_reconnects: number, dropped: number,
    }),
    adapter: list(object({id: text, state: text, connected: number, discovering: flag})),
    advertisement: object({serial: text, address: text, name: text, rssi: number, known: flag}),
    event: object({type: text, id: text, serial: text, adapter: text, text, time: text}),
    log: value => (isObject(value) ? {...fields(value), fields: fields(value.fields)} : undefined),
    response: result,
  })),
};

// The value of a message's topic, with what has another type left out.
export function typed(kind, name, rest, value) {
  const type = rest.endsWith("/result") ? result : types[kind].get(name);
  return type?.(value);
}
