// The rows of a table that begins with the newest, with a row before those of each day that has passed.

import {make} from "./elements.js";
import {dayName} from "./model.js";

// Returns a function that makes the rows of things, {thing, at, name}, with those of days between them. A row is made again when the name that
// it shows has changed.
export function rowsByDay(columns, makeRow) {
  const heads = new Map(), rows = new WeakMap();
  const head = name => make("tr", {class: "day"}, make("th", {scope: "rowgroup", colspan: columns}, name));
  return (things, now) => {
    const seen = new Set([dayName(now, now)]);
    return things.flatMap(({thing, at, name}) => {
      if (rows.get(thing)?.name !== name) rows.set(thing, {name, row: makeRow(thing, name)});
      const {row} = rows.get(thing), day = dayName(at, now);
      if (!day || seen.has(day)) return [row];
      seen.add(day);
      if (!heads.has(day)) heads.set(day, head(day));
      return [heads.get(day), row];
    });
  };
}
