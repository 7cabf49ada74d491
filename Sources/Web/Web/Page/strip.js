// Today of a tag as a strip: when it was connected and when it was offline, as far as the page has heard of it, and its gestures.

import {make, makeSVG, replace, setText} from "./elements.js";
import {capitalized, shortTime, span} from "./model.js";

const stripWidth = 1000, stripHeight = 24;

// A day in words.
function textOf({parts, count}) {
  const sum = isOnline => parts.filter(part => part.isOnline === isOnline).reduce((sum, {from, to}) => sum + to - from, 0);
  const [online, offline, unknown] = [true, false, null].map(sum);
  const texts = [
    online > 0 ? `connected for ${span(online)}` : "", offline > 0 ? `offline for ${span(offline)}` : "",
    count > 0 ? `${count} ${count === 1 ? "gesture" : "gestures"}` : "",
    unknown === 0 ? "" : parts[0]?.isOnline === null && parts.length > 1 ? `not known before ${shortTime(parts[0].to)}` : `not known for ${span(unknown)}`,
  ];
  return texts.filter(Boolean).join(", ");
}

// A strip, which `draw` shows again; `hasText` shows its words below it.
export function todayStrip(hasText = false) {
  const picture = make("div", {class: "picture"}), text = hasText ? make("figcaption") : null;
  const element = make("figure", {class: "strip"}, picture, make("div", {class: "hours", "aria-hidden": "true"}, ...["0", "6", "12", "18", "24"].map(hour => make("span", {}, hour))), text);
  return {
    element,
    // In steps of a minute.
    draw(day) {
      const minute = time => Math.floor((time - day.start) / 60000), words = textOf(day);
      const key = JSON.stringify([words, day.parts.map(({from, to, isOnline}) => [minute(from), minute(to), isOnline]), day.times.map(minute), minute(day.now)]);
      replace(picture, key, () => [drawn(day, words)]);
      if (text) setText(text, capitalized(words));
    },
  };
}

function drawn({start, end, now, parts, times}, words) {
  const x = time => ((time - start) / (end - start) * stripWidth).toFixed(1);
  const bar = ({from, to}, name, y, height) => makeSVG("rect", {class: name, x: x(from), width: Math.max(1, x(to) - x(from)), y, height});
  const line = (name, from, to, y, toY = y) => makeSVG("line", {class: name, x1: from, x2: to, y1: y, y2: toY});
  return makeSVG("svg", {viewBox: `0 0 ${stripWidth} ${stripHeight}`, preserveAspectRatio: "none", role: "img", "aria-label": `Today: ${words}`},
    line("rest", x(now), stripWidth, 16),
    ...parts.map(part => (part.isOnline === null ? line("unknown", x(part.from), x(part.to), 16) : part.isOnline ? bar(part, "online", 10, 12) : bar(part, "offline", 14, 4))),
    ...times.map(time => line("touch", x(time), x(time), 0, stripHeight)), line("now", x(now), x(now), 6, stripHeight));
}
