// Charts as SVG, with the same facts as text.

import {make, makeSVG} from "./elements.js";
import {shortTime} from "./model.js";

const width = 360, height = 120, left = 40, bottom = 18, top = 8, right = 6;

function frame(title, text, ...children) {
  const name = `${title}: ${text}`;
  return [
    makeSVG("svg", {class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name}, ...children),
    make("figcaption", {}, name),
  ];
}

function axes(labels, start, end) {
  const base = height - bottom;
  const parts = [makeSVG("line", {class: "axis", x1: left, x2: width - right, y1: base, y2: base})];
  for (const [value, y] of labels) {
    parts.push(makeSVG("line", {class: "axis", x1: left, x2: width - right, y1: y, y2: y}));
    parts.push(makeSVG("text", {x: left - 5, y: y + 4, "text-anchor": "end"}, String(value)));
  }
  parts.push(makeSVG("text", {x: left, y: height - 4}, shortTime(start)));
  parts.push(makeSVG("text", {x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle"}, shortTime((start + end) / 2)));
  parts.push(makeSVG("text", {x: width - right, y: height - 4, "text-anchor": "end"}, "now"));
  return parts;
}

// A line for values such as battery levels. Between two values it is straight; unknown slots are bridged.
export function lineChart(title, values, {unit, low, high, slot, end}) {
  const known = values.map((value, index) => [index, value]).filter(([, value]) => value !== null);
  const start = end - values.length * slot;
  const x = index => left + (index + 0.5) / values.length * (width - left - right);
  const y = value => top + (high - Math.max(low, Math.min(high, value))) / (high - low) * (height - top - bottom);
  const marks = axes([[high, y(high)], [(high + low) / 2, y((high + low) / 2)]], start, end);
  if (known.length === 0) return frame(title, "no value in the last 24 hours", ...marks);
  const points = known.map(([index, value]) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`);
  const numbers = known.map(([, value]) => value);
  const [first, last] = [known[0], known[known.length - 1]];
  const range = numbers.length > 1 ? `, lowest ${Math.min(...numbers)}, highest ${Math.max(...numbers)}` : "";
  const trend = first[1] === last[1] ? "" : last[1] < first[1] ? ", falling" : ", rising";
  return frame(title, `${last[1]} ${unit}${range}${trend}`, ...marks,
    makeSVG("polyline", {class: "value", points: points.join(" ")}),
    makeSVG("circle", {class: "dot", cx: x(last[0]), cy: y(last[1]), r: 2.5}));
}

// Columns for counts per hour.
export function columnChart(title, values, {slot, end}) {
  const counts = values.map(value => value ?? 0);
  const total = counts.reduce((sum, value) => sum + value, 0);
  const highest = Math.max(...counts, 1);
  const inner = width - left - right;
  const y = value => top + (1 - value / highest) * (height - top - bottom);
  const columns = counts.map((value, index) => makeSVG("rect", {
    class: "column", x: left + index / counts.length * inner + 1, width: inner / counts.length - 2, y: y(value), height: height - bottom - y(value),
  }));
  const busiest = counts.indexOf(Math.max(...counts));
  const hourStart = Math.floor(end / slot) * slot;
  const text = total === 0 ? "none in the last 24 hours" : `${total} in the last 24 hours, most at ${shortTime(hourStart - (counts.length - 1 - busiest) * slot)} (${counts[busiest]})`;
  return frame(title, text, ...axes([[highest, y(highest)]], hourStart - (counts.length - 1) * slot, end), ...columns);
}
