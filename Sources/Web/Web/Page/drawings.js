// The page's own drawings. Each one stands beside its word and is hidden from screen readers.

import {isolated, make, makeSVG} from "./elements.js";
import {words} from "./model.js";

const path = (d, attributes = {}) => makeSVG("path", {d, ...attributes});
const filled = {class: "filled"};

function drawing(kind, size, ...parts) {
  return makeSVG("svg", {class: `drawing ${kind}`, viewBox: `0 0 ${size} ${size}`, "aria-hidden": "true"}, ...parts);
}

export function tick() {
  return drawing("tick", 16, path("M3 8.5l3.5 3.5L13 4.5"));
}

// A ring that turns while something goes on.
export function ring() {
  return drawing("ring turns", 16, makeSVG("circle", {class: "track", cx: 8, cy: 8, r: 6}), path("M8 2a6 6 0 0 1 6 6", {class: "runs"}));
}

// A tag in its cuff.
const tagParts = () => [makeSVG("rect", {class: "cuff", x: 30, y: 20, width: 20, height: 40, rx: 8}), makeSVG("circle", {class: "push", cx: 40, cy: 40, r: 5})];

export function tagDrawing() {
  return drawing("tag-drawing", 80, ...tagParts());
}

// A tag in a ring that runs down: `show` takes what is left of it, from 1 to 0, and null for a ring that turns.
export function tagInRing() {
  const runs = makeSVG("circle", {class: "runs", cx: 40, cy: 40, r: 36, pathLength: 1, transform: "rotate(-90 40 40)"});
  const element = drawing("ring", 80, makeSVG("circle", {class: "track", cx: 40, cy: 40, r: 36}), runs,
    ...tagParts());
  return {
    element,
    show(left) {
      element.classList.toggle("turns", left === null);
      runs.setAttribute("stroke-dasharray", `${(left ?? 0.25).toFixed(3)} 1`);
    },
  };
}

// MARK: Gestures

// The hand moves on the cloth, towards the body or away from it, up or down.
const gestures = {
  brush_in: () => [path("M3 12h12M10.5 7l5 5-5 5"), path("M20 4v16")],
  brush_out: () => [path("M4 4v16"), path("M8 12h13M16 7l5 5-5 5")],
  brush_up: () => [path("M12 21V9M7 13.5l5-5 5 5"), path("M4 4h16")],
  brush_down: () => [path("M12 3v12M7 10.5l5 5 5-5"), path("M4 20h16")],
  double_tap: () => [makeSVG("circle", {...filled, cx: 12, cy: 12, r: 2.5}), makeSVG("circle", {cx: 12, cy: 12, r: 6}), makeSVG("circle", {cx: 12, cy: 12, r: 10})],
  cover: () => [path("M4 17a8 9 0 0 1 16 0z", filled), path("M2 20.5h20")],
};
const unknownGesture = () => [path("M3 14c2.5-6 5.5-6 8-1s5.5 5 10-3")];
// Gestures in a row.
const chord = () => [path("M5 12h14"), ...[5, 12, 19].map(x => makeSVG("circle", {...filled, cx: x, cy: 12, r: 2.5}))];

// A gesture with its drawing, its words and when it was made.
export function gestureParts(gesture, when) {
  return [gestureDrawing(gesture), make("span", {class: "what"}, isolated(words(gesture.event_type))), make("span", {class: "quiet"}, when)];
}

function gestureDrawing({event_type: type, of: parts}) {
  return drawing("gesture-drawing", 24, ...(Object.hasOwn(gestures, type) ? gestures[type] : parts ? chord : unknownGesture)());
}

// MARK: Gear

const products = [
  [/jacket|coat/i, () => [path("M8.5 3L4 5.5 2.5 19H6l1-8v10h10V11l1 8h3.5L20 5.5 15.5 3 12 6.5z"), path("M12 6.5V21")]],
  [/pack|bag/i, () => [path("M9 5a3 3 0 0 1 6 0"), makeSVG("rect", {x: 5, y: 5, width: 14, height: 16, rx: 4}), path("M8.5 13.5h7v4h-7z")]],
];
const patch = () => [makeSVG("rect", {x: 3.5, y: 5.5, width: 17, height: 13, rx: 2.5}), path("M8 9v6M12 9v6M16 9v6")];
const nothing = () => [makeSVG("rect", {class: "dashed", x: 3.5, y: 5.5, width: 17, height: 13, rx: 2.5})];

// `gear` is the fact of a tag.
export function gearDrawing(gear) {
  const shape = !gear?.attached ? nothing : products.find(([names]) => names.test(gear.product ?? ""))?.[1] ?? patch;
  return drawing("gear-drawing", 24, ...shape());
}

// MARK: Measurements

export function gauge({level, charging}) {
  const width = Math.max(0, Math.min(100, level)) / 100 * 18;
  return makeSVG("svg", {class: "gauge", viewBox: "0 0 26 12", "aria-hidden": "true"},
    makeSVG("rect", {class: "case", x: "0.5", y: "0.5", width: "22", height: "11", rx: "2.5"}),
    makeSVG("rect", {class: level <= 20 && charging !== true ? "level low" : "level", x: "2.5", y: "2.5", width: String(width), height: "7", rx: "1"}),
    makeSVG("rect", {class: "pole", x: "23.5", y: "3.5", width: "2", height: "5", rx: "1"}));
}

// Four bars; `strength` is in dBm.
export function signalBars(strength) {
  const lit = 1 + [-80, -70, -60].filter(least => strength >= least).length;
  return makeSVG("svg", {class: "bars", viewBox: "0 0 19 12", "aria-hidden": "true"}, ...[0, 1, 2, 3].map(index =>
    makeSVG("rect", {class: index < lit ? "lit" : "unlit", x: index * 5, y: 9 - index * 3, width: 4, height: 3 + index * 3, rx: 1})));
}
