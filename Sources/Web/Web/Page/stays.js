// Since when a tag was connected and offline, as far as the page has heard of it. No elements.

// The most changes of a tag that are kept.
const mostStays = 200;

// Notes in a list of {at, isOnline}, oldest first, that a tag has a state since a time; null is unknown. What was noted for later is replaced if
// it was unknown.
export function noteStay(stays, at, isOnline) {
  while (stays.length > 0 && stays.at(-1).isOnline === null && stays.at(-1).at >= at) stays.pop();
  const last = stays.at(-1);
  if (last?.isOnline === isOnline) return;
  stays.push({at: Math.max(at, last?.at ?? at), isOnline});
  if (stays.length > mostStays) stays.shift();
}

// The same as notes from a row of the server, {slots, slot, start}, for the time before `until`: 1 is online, 0 offline, null unknown.
export function remembered(past, until) {
  const stays = [];
  past?.slots.forEach((value, index) => {
    const at = past.start + index * past.slot, isOnline = value === null ? null : value === 1;
    if (at < until && stays.at(-1)?.isOnline !== isOnline) stays.push({at, isOnline});
  });
  const end = past ? past.start + past.slots.length * past.slot : until;
  if (end < until && stays.length > 0) noteStay(stays, end, null);
  return stays;
}

// How many gestures were made since a time, as far as it is known: those of the list, or the server's counts of hours.
function count(times, past, start) {
  if (!past) return times.length;
  const counted = [...past.counts].reduce((sum, [hour, count]) => sum + (hour * past.hour >= start ? count : 0), 0);
  return Math.max(times.length, counted);
}

// Today's parts, {from, to, isOnline}, until a time; and its gestures, of which the newest ones have times.
export function today(stays, gestures, until, now, past = null) {
  const day = new Date(now), start = day.setHours(0, 0, 0, 0), end = day.setHours(24, 0, 0, 0);
  const known = stays.map(({at, isOnline}, index) => ({from: Math.max(at, start), to: Math.min(stays[index + 1]?.at ?? until, until), isOnline}));
  const parts = [];
  let from = start;
  for (const part of known.filter(part => part.to > part.from)) {
    if (part.from > from) parts.push({from, to: part.from, isOnline: null});
    parts.push(part);
    from = part.to;
  }
  if (now > from) parts.push({from, to: now, isOnline: null});
  const times = gestures.map(({at}) => (typeof at === "number" ? at : Date.parse(at))).filter(at => at >= start && at <= now);
  return {start, end, now, parts, times, count: count(times, past, start)};
}
