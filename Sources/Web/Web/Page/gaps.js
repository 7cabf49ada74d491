// Gestures of a tag that are missing in a list: numbers that were left out, and times in which the bridge was away.

// The newest numbers that are missing, newest first: {count, first, last, since, until, key}; null if there are none. `isWhole` is whether
// the list begins with the start of the bridge, whose first gesture has the number 1.
export function firstGap(list, isWhole = false) {
  for (const [index, newer] of list.entries()) {
    const older = list[index + 1] ?? (isWhole ? {seq: 0, time: ""} : null);
    if (!older) return null;
    // An exclusive chord replaces its gestures.
    const missing = newer.seq - older.seq - 1 - (newer.of ?? []).filter(number => number > older.seq).length;
    if (missing > 0) return {count: missing, first: older.seq + 1, last: newer.seq - 1, since: older.time, until: newer.time, key: `${newer.boot} ${newer.seq}`};
  }
  return null;
}

// The last time within the list in which the bridge was away: {from, to, isExact, newer}; null if it was not. `to` is null if it is still away,
// and `newer` is how many gestures of the list are of a later time. The bridge is away between two of its starts. What the server has seen of
// that is in `away`; without it, the gestures around it say when it was.
export function lastAbsence(list, {isOffline, away, boot, started}) {
  if (list.length === 0) return null;
  const {from_ms: from = null, to_ms: to = null} = away ?? {};
  const time = ({at}) => (typeof at === "number" ? at : Date.parse(at));
  if (isOffline) return {from: from ?? time(list[0]), to: null, isExact: from !== null, newer: 0};
  const isRestarted = Boolean(boot && list[0].boot) && boot !== list[0].boot;
  const change = list.findIndex((gesture, index) => index + 1 < list.length && gesture.boot !== list[index + 1].boot);
  if (!isRestarted && change < 0) return null;
  const older = list[isRestarted ? 0 : change + 1], newer = isRestarted ? null : list[change];
  const begin = time(older), end = newer ? time(newer) : Infinity;
  // The clock of the bridge may be wrong, and the server may have seen another time.
  const isSeen = from !== null && to !== null && to > begin && from < end;
  const ends = [to, Date.parse(started ?? "")].filter(each => each > begin && each < end);
  return {from: isSeen ? from : begin, to: ends[0] ?? (newer ? end : null), isExact: isSeen, newer: isRestarted ? 0 : change + 1};
}
