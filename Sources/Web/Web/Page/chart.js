// Charts as SVG, with the same facts as text, and with each value under the pointer and by the arrow keys.

import {make, makeSVG} from "./elements.js";
import {dateFormat, shortTime} from "./model.js";

const width = 360, height = 128, left = 40, bottom = 18, upper = 8, right = 6;
// The band that says when the tag was connected, below the axis.
const bandHeight = 5, base = height - bottom - bandHeight - 1;

const dayLength = 24 * 3600000;
const weekday = dateFormat({weekday: "short"}), date = dateFormat({day: "numeric", month: "short"});

// The time of a value in a chart of one day or of several.
function timeText(time, days) {
  return days === 1 ? shortTime(time) : `${(days > 7 ? date : weekday)(new Date(time))} ${shortTime(time)}`;
}

const spanText = days => (days === 1 ? "in the last 24 hours" : `in the last ${days} days`);

// A chart that stays when its values change: `draw` shows others. The value that was chosen by keys stays chosen.
export function chart(title) {
  const picture = make("div", {class: "chart", tabindex: "0", role: "slider", "aria-label": title, "aria-valuemin": "0"});
  const caption = make("figcaption"), chosenText = make("span"), text = make("span");
  caption.append(text, chosenText);
  const element = make("figure", {}, picture, caption);
  let marks = [], chosen = -1, key = "";

  function choose(index) {
    chosen = Math.max(-1, Math.min(index, marks.length - 1));
    const mark = marks[chosen], cursor = picture.querySelector(".cursor");
    chosenText.textContent = mark ? ` \u2013 ${mark.text}` : "";
    picture.setAttribute("aria-valuenow", String(Math.max(0, chosen)));
    picture.setAttribute("aria-valuetext", mark?.text ?? text.textContent);
    if (!cursor) return;
    cursor.toggleAttribute("hidden", !mark);
    if (mark) for (const name of ["x1", "x2"]) cursor.setAttribute(name, mark.x.toFixed(1));
  }

  // The value that is the nearest to a place on the screen.
  function nearest(event) {
    const box = picture.getBoundingClientRect(), x = (event.clientX - box.left) / box.width * width;
    return marks.reduce((best, mark, index) => (best < 0 || Math.abs(mark.x - x) < Math.abs(marks[best].x - x) ? index : best), -1);
  }

  picture.addEventListener("pointermove", event => choose(nearest(event)));
  picture.addEventListener("pointerdown", event => choose(nearest(event)));
  picture.addEventListener("pointerleave", () => choose(-1));
  picture.addEventListener("keydown", event => {
    const last = marks.length - 1, at = chosen < 0 ? last + 1 : chosen;
    const places = {ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: chosen < 0 ? last : at + 1, ArrowUp: chosen < 0 ? last : at + 1, Home: 0, End: last, Escape: -1};
    if (!Object.hasOwn(places, event.key)) return;
    event.preventDefault();
    choose(event.key === "Escape" ? -1 : Math.max(0, places[event.key]));
  });
  picture.addEventListener("blur", () => choose(-1));

  return {
    element,
    draw(drawn) {
      const newKey = JSON.stringify([drawn.text, drawn.key]);
      if (newKey === key) return;
      key = newKey;
      const time = marks[chosen]?.time;
      marks = drawn.marks;
      text.textContent = `${title}: ${drawn.text}`;
      picture.setAttribute("aria-valuemax", String(Math.max(0, marks.length - 1)));
      picture.replaceChildren(makeSVG("svg", {class: "chart", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true"},
        ...drawn.children, makeSVG("line", {class: "cursor", y1: upper, y2: base, hidden: true})));
      choose(time === undefined ? -1 : marks.findIndex(mark => mark.time === time));
    },
    clear() {
      key = "";
      marks = [];
      text.textContent = "";
      picture.replaceChildren();
      choose(-1);
    },
  };
}

// The places of times between the start and the end of a chart.
function scale(start, end) {
  return time => left + (time - start) / (end - start) * (width - left - right);
}

function axes(labels, {start, end, now, days}) {
  const x = scale(start, end);
  const parts = [makeSVG("line", {class: "axis", x1: left, x2: width - right, y1: base, y2: base})];
  for (const [value, y] of labels) {
    parts.push(makeSVG("line", {class: "axis", x1: left, x2: width - right, y1: y, y2: y}));
    parts.push(makeSVG("text", {x: left - 5, y: y + 4, "text-anchor": "end"}, String(value)));
  }
  parts.push(makeSVG("text", {x: left, y: height - 4}, timeText(start, days)));
  // In the middle of the past, if there is room beside the other two.
  const middle = (start + now) / 2;
  if (x(middle) > left + 80 && x(middle) < width - right - 60) parts.push(makeSVG("text", {x: x(middle), y: height - 4, "text-anchor": "middle"}, timeText(middle, days)));
  parts.push(makeSVG("text", {x: x(now), y: height - 4, "text-anchor": end > now ? "middle" : "end"}, "now"));
  if (end > now) parts.push(makeSVG("line", {class: "axis", x1: x(now), x2: x(now), y1: upper, y2: base}));
  return parts;
}

// When the tag was connected and offline: each run of equal slots is one bar. The slots may begin before the chart.
function band(connection, {start, from: first = start, end, slot}) {
  const x = scale(start, end), bars = [];
  let from = 0;
  connection.forEach((value, index) => {
    if (connection[index + 1] === value) return;
    const [begin, stop] = [Math.max(start, first + from * slot), first + (index + 1) * slot];
    from = index + 1;
    if (value === null || stop <= begin) return;
    bars.push(makeSVG("rect", {class: value ? "online" : "offline", x: x(begin).toFixed(1), width: Math.max(0.8, x(stop) - x(begin)).toFixed(1), y: base + 1, height: bandHeight}));
  });
  return bars;
}

const connectionText = value => (value === null || value === undefined ? "" : value ? ", connected" : ", offline");

// A line for values such as battery levels. Between two values it is straight; unknown slots are bridged. `empty` is when it is forecast to
// reach the lowest value, to which a dashed line leads.
export function lineChart(values, {unit, low, high, slot, end: now, connection, empty = null}) {
  const start = now - values.length * slot, days = Math.ceil(values.length * slot / dayLength);
  const known = values.map((value, index) => [index, value]).filter(([, value]) => value !== null);
  const isForecast = empty !== null && empty > now && known.length > 0;
  // The future takes half of the chart at most.
  const end = isForecast ? Math.min(empty, now + days * dayLength) : now;
  const x = scale(start, end), time = index => start + (index + 0.5) * slot;
  const y = value => upper + (high - Math.max(low, Math.min(high, value))) / (high - low) * (base - upper);
  const children = [...axes([[high, y(high)], [(high + low) / 2, y((high + low) / 2)]], {start, end, now, days}), ...band(connection, {start, end, slot})];
  const key = [values, connection, end - start, Math.round(start / slot)];
  if (known.length === 0) return {text: `no value ${spanText(days)}`, marks: [], children, key};
  const points = known.map(([index, value]) => `${x(time(index)).toFixed(1)},${y(value).toFixed(1)}`);
  const numbers = known.map(([, value]) => value), [first, last] = [known[0], known.at(-1)];
  const range = numbers.length > 1 ? `, lowest ${Math.min(...numbers)}, highest ${Math.max(...numbers)}` : "";
  const trend = first[1] === last[1] ? "" : last[1] < first[1] ? ", falling" : ", rising";
  if (isForecast) {
    // Where the line leaves the chart, if it ends later.
    const from = time(last[0]), part = (end - from) / (empty - from), level = last[1] + (low - last[1]) * part;
    children.push(makeSVG("line", {class: "forecast", x1: x(from), y1: y(last[1]), x2: x(end), y2: y(level)}));
  }
  children.push(makeSVG("polyline", {class: "value", points: points.join(" ")}), makeSVG("circle", {class: "dot", cx: x(time(last[0])), cy: y(last[1]), r: 2.5}));
  const marks = known.map(([index, value]) => ({x: x(time(index)), time: Math.round(time(index) / slot), text: `${value} ${unit} at ${timeText(start + index * slot, days)}${connectionText(connection[index])}`}));
  return {text: `${last[1]} ${unit}${range}${trend}`, marks, children, key};
}

// Columns for counts per hour; of several days, per six hours.
export function columnChart(values, {slot: hour, end: now, days, connection, connectionSlot}) {
  const step = days === 1 ? 1 : 6, slot = hour * step;
  const counts = [];
  for (let index = 0; index < values.length; index += step) counts.push(values.slice(index, index + step).reduce((sum, value) => sum + (value ?? 0), 0));
  const total = counts.reduce((sum, value) => sum + value, 0), highest = Math.max(...counts, 1);
  const start = (Math.ceil(now / hour) - values.length) * hour, end = Math.max(now, start + counts.length * slot);
  const x = scale(start, end), y = value => upper + (1 - value / highest) * (base - upper);
  const columns = counts.map((value, index) => makeSVG("rect", {
    class: "column", x: x(start + index * slot) + 1, width: x(start + slot) - x(start) - 2, y: y(value), height: base - y(value),
  }));
  const busiest = counts.indexOf(Math.max(...counts));
  const at = index => timeText(start + index * slot, days);
  const text = total === 0 ? `none ${spanText(days)}` : `${total} ${spanText(days)}, most at ${at(busiest)} (${counts[busiest]})`;
  const marks = counts.map((value, index) => ({x: x(start + (index + 0.5) * slot), time: Math.round(start / slot) + index, text: `${value} ${step === 1 ? "in the hour" : "in six hours"} from ${at(index)}`}));
  const children = [...axes([[highest, y(highest)]], {start, end, now: end, days}), ...band(connection, {start, from: now - connection.length * connectionSlot, end, slot: connectionSlot}), ...columns];
  return {text, marks, children, key: [counts, connection, start]};
}
