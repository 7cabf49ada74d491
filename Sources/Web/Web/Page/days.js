// The rows of a table that begins with the newest, with a row before those of each day that has passed.

import {make} from "./elements.js";
import {dayName} from "./model.js";

// Returns a function that puts the rows of days between others: {at, row} in, rows out.
export function daySeparators(columns) {
  const heads = new Map();
  const head = name => make("tr", {class: "day"}, make("th", {scope: "rowgroup", colspan: columns}, name));
  return (rows, now) => {
    const seen = new Set([dayName(now, now)]);
    return rows.flatMap(({at, row}) => {
      const name = dayName(at, now);
      if (!name || seen.has(name)) return [row];
      seen.add(name);
      if (!heads.has(name)) heads.set(name, head(name));
      return [heads.get(name), row];
    });
  };
}
