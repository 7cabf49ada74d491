// The page: session, header, and the part after # that selects what is shown.

import {Connection} from "./connection.js";
import {make, setText, button, replace, attempt} from "./elements.js";
import {isOnline, Model, offlineText} from "./model.js";
import {resultLine} from "./result.js";
import {tagsPage} from "./tags.js";
import {tagPage} from "./tag.js";
import {pairPage} from "./pair.js";
import {examinePage, whyPage} from "./why.js";
import {eventsPage} from "./events.js";
import {logPage} from "./log.js";
import {fleetPage} from "./fleet.js";
import {sessionsPage} from "./sessions.js";

const model = new Model();
const connection = new Connection(model);
const main = document.getElementById("main");
const context = {model, connection, go: address => { location.hash = address; }};

const pages = [
  {name: "tags", title: "Tags", open: tagsPage},
  {name: "pair", title: "Pair", open: pairPage, topic: "bridge/x/request/pair"},
  {name: "events", title: "Events", open: eventsPage},
  {name: "log", title: "Log", open: logPage, role: "admin"},
  {name: "fleet", title: "Fleet", open: fleetPage, notRole: "automation"},
];
const others = [
  {name: "tag", title: "Tag", open: tagPage, parent: "tags"},
  {name: "why", title: "Why offline?", open: whyPage, parent: "tags"},
  {name: "examine", title: "Bridge", open: examinePage, parent: "fleet", notRole: "automation"},
  {name: "sessions", title: "Sessions", open: sessionsPage, role: "admin", below: "fleet"},
];

let shown = null;
let isScheduled = false;

function allowed(page) {
  const session = connection.session;
  if (page.role && session?.role !== page.role) return false;
  if (page.notRole && session?.role === page.notRole) return false;
  return !page.topic || connection.may(page.topic);
}

function show() {
  if (!connection.session) return;
  const [name, ...rest] = location.hash.slice(1).split("/");
  const argument = decode(rest.join("/"));
  // The pages of one tag need its id.
  const page = [...pages, ...others].find(page => page.name === name && allowed(page) && (argument || !page.parent)) ?? pages[0];
  shown?.close?.();
  main.replaceChildren();
  const isFirst = shown === null;
  shown = page.open(main, context, argument);
  shown.page = page;
  drawPages();
  update();
  // A new page begins at its top, also for the keyboard and a screen reader.
  if (!isFirst) {
    window.scrollTo(0, 0);
    main.focus({preventScroll: true});
  }
}

function decode(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

function drawPages() {
  const current = shown?.page.below ?? shown?.page.parent ?? shown?.page.name;
  const nav = document.getElementById("pages");
  replace(nav, `${connection.session?.role} ${current}`, () => pages.filter(allowed).map(page =>
    make("a", {href: `#${page.name}`, "aria-current": page.name === current ? "page" : null}, page.title)));
}

function update() {
  isScheduled = false;
  // Without a session there is nothing to draw, also when a tab in the background is shown again.
  if (!connection.session) return;
  attempt(drawTitle);
  // Of a page in the background, only the title is visible. The rest is drawn when it is shown.
  if (document.hidden) return;
  attempt(drawHeader);
  // A part of many tags would be drawn as few tags.
  if (connection.isArriving) return;
  attempt(() => {
    shown?.update?.();
    model.changedTags.clear();
  });
  model.isNextSecond = false;
}

// How often the title of a hidden page changes at most, in milliseconds.
const hiddenInterval = 1000;

// Many messages in a short time are drawn together.
function schedule() {
  if (isScheduled) return;
  isScheduled = true;
  if (document.hidden) setTimeout(update, hiddenInterval); else requestAnimationFrame(update);
}

// What the title and the header say: how many tags have each state, and why that is not current.
function states() {
  const totals = model.totals(), stale = model.staleness(document.hidden);
  const texts = stale ? ["state not known"] : [`${totals.online} online`, ...(totals.offline > 0 ? [`${totals.offline} offline`] : [])];
  return {...totals, stale, texts};
}

function drawTitle() {
  const {stale, texts} = states();
  document.title = [stale ? "not connected" : model.isReady ? texts.join(", ") : "", shown?.title ?? shown?.page.title ?? "jacquard"].filter(Boolean).join(" \u2013 ");
}

function drawHeader() {
  const {tags, offline, low, stale, texts} = states();
  // Each link leads to the tags that need the user.
  const links = stale ? {} : {[`${offline} offline`]: "#tags/offline", [`${low} battery low`]: "#tags/low"};
  const parts = model.isReady ? [`${tags} ${tags === 1 ? "tag" : "tags"}`, ...texts] : [];
  if (low > 0 && !stale) parts.push(`${low} battery low`);
  const bridges = stale ? [] : [...model.bridges.entries()].filter(([, bridge]) => bridge.state !== undefined).sort()
    .map(([name, bridge]) => `${name} ${isOnline(bridge) ? bridge.health?.status ?? "online" : offlineText(bridge)}`);
  const shownBridges = bridges.slice(0, 4);
  replace(document.getElementById("totals"), JSON.stringify([parts, shownBridges]), () => [
    ...listed(parts, links), ...(parts.length > 0 && shownBridges.length > 0 ? [" \u2013 "] : []), ...listed(shownBridges)]);
  showProblem(stale?.problem ?? "", stale?.rest);
  main.classList.toggle("old", stale !== null);
  drawNotices(stale ? [] : model.notices());
  tellChanges(stale === null && model.isReady);
}

// Whether each tag was online.
const wasOnline = new Map();
// How long a change can be read, in milliseconds.
const newsTime = 5000;
let newsTimer = null;

// A screen reader reads which tags have gone offline or have come back.
function tellChanges(isKnown) {
  const changes = {offline: [], online: []};
  for (const id of model.changedTags) {
    const before = wasOnline.get(id), isOnline = model.isOnline(id);
    if (!model.tags.has(id)) { wasOnline.delete(id); continue; }
    wasOnline.set(id, isOnline);
    if (before !== undefined && before !== isOnline) changes[isOnline ? "online" : "offline"].push(model.tagName(id) || id);
  }
  const texts = Object.entries(changes).filter(([, names]) => names.length > 0)
    .map(([state, names]) => (names.length > 3 ? `${names.length} tags are ${state}.` : names.map(name => `${name} is ${state}.`).join(" ")));
  if (!isKnown || texts.length === 0) return;
  setText(document.getElementById("news"), texts.join(" "));
  clearTimeout(newsTimer);
  newsTimer = setTimeout(() => setText(document.getElementById("news"), ""), newsTime);
}

// A screen reader reads the problem once, and not its age.
function showProblem(problem, rest = "") {
  setText(document.getElementById("problem"), problem);
  setText(document.getElementById("age"), rest);
  document.getElementById("alert").hidden = !problem;
}

// Texts with commas between them, which are not broken inside. `links` has the addresses of some.
function listed(texts, links = {}) {
  return texts.flatMap((text, index) => [
    make("span", {class: "whole"}, Object.hasOwn(links, text) ? make("a", {href: links[text]}, text) : text, index < texts.length - 1 ? "," : ""),
    ...(index < texts.length - 1 ? [" "] : [])]);
}

// What keeps all tags of a bridge from working.
function drawNotices(notices) {
  const list = document.getElementById("notices");
  replace(list, JSON.stringify(notices), () => notices.map(({text, bridge}) =>
    make("p", {class: "alert"}, `${text} `, ...(connection.session?.role === "automation" ? [] : [make("a", {href: `#examine/${encodeURIComponent(bridge)}`}, "What to do")]))));
}

// MARK: Login

// Whether this tab has had a session since the last login was asked for.
let hadSession = false;
// How often a page that is shown prolongs its session, in milliseconds.
const prolongInterval = 600000;

// Ends the session in this tab, and removes everything that belongs to it.
function endSession() {
  connection.forget();
  shown?.close?.();
  shown = null;
  main.replaceChildren();
  main.classList.remove("old");
  for (const id of ["pages", "totals"]) replace(document.getElementById(id), "", () => []);
  drawNotices([]);
  wasOnline.clear();
  setText(document.getElementById("news"), "");
  document.getElementById("user").replaceChildren();
  document.querySelector("dialog")?.remove();
  document.title = "jacquard";
  showProblem("");
}

function showLogin(answer) {
  const wasLoggedIn = hadSession;
  endSession();
  hadSession = false;
  document.title = "Log in \u2013 jacquard";
  const news = wasLoggedIn ? [make("p", {class: "quiet", role: "status"}, "You were logged out.")] : [];
  if (answer.login === "password") return showPasswordForm(news);
  const text = answer.login === "failed" ? answer.text : "This page needs a one-time link.";
  main.replaceChildren(make("h1", {}, "Log in"), ...news, make("p", {}, text),
    make("p", {}, "Run this command on the page's host and open the link that it prints:"),
    make("p", {}, make("code", {}, "jacquard2mqtt-web open")));
}

function showPasswordForm(news) {
  const name = make("input", {name: "user", autocomplete: "username", required: true});
  const password = make("input", {name: "password", type: "password", autocomplete: "current-password", required: true});
  const result = resultLine();
  const submit = make("button", {class: "main"}, "Log in");
  const form = make("form", {class: "login"}, make("label", {}, "Name", name), make("label", {}, "Password", password), submit, result);
  form.addEventListener("submit", async event => {
    event.preventDefault();
    submit.disabled = true;
    const answer = await connection.login({user: name.value, password: password.value}).catch(() => ({login: "failed", text: "The server does not answer."}));
    submit.disabled = false;
    if (answer.login) return result.show({ok: false, text: answer.text});
    begin();
  });
  main.replaceChildren(make("h1", {}, "Log in"), ...news, form);
  name.focus();
}

function begin() {
  const {user, role} = connection.session;
  const name = user ? `${user} (${role})` : "";
  hadSession = true;
  const out = button("Log out", async () => { await connection.logout(); showLogin({login: user ? "password" : "link"}); });
  document.getElementById("user").replaceChildren(name, ...(user ? [out] : []));
  shown?.close?.();
  shown = null;
  show();
}

async function start() {
  const key = new URLSearchParams(location.hash.slice(1)).get("key");
  // The key works once, and does not stay in the browser's history.
  if (key) history.replaceState(null, "", location.pathname);
  const failed = key ? await connection.login({key}) : null;
  if (failed && !failed.login) return begin();
  // A browser that is logged in does not need the key.
  const answer = await connection.open();
  return answer.login ? showLogin(failed ?? answer) : begin();
}

connection.onChange = schedule;
connection.onMessage = change => { if (!document.hidden) shown?.message?.(change); };
connection.onSession = answer => (answer.login ? showLogin(answer) : begin());
// It is reported several times: by the stream, and by each command.
connection.onSessionLost = () => { if (connection.session) { endSession(); retry(); } };
window.addEventListener("hashchange", () => (location.hash.startsWith("#key=") ? start() : show()));
document.getElementById("skip").addEventListener("click", event => { event.preventDefault(); main.focus(); });
// Ages such as "20 s ago".
setInterval(() => {
  if (!connection.session) return;
  model.isNextSecond = true;
  model.checkClock();
  schedule();
  connection.prolong(prolongInterval);
}, 1000);
document.addEventListener("visibilitychange", () => {
  connection.report();
  isScheduled = false;
  model.isNextSecond = true;
  schedule();
  connection.prolong(prolongInterval);
});
window.addEventListener("pagehide", () => connection.leave());
window.addEventListener("pageshow", event => { if (event.persisted) connection.report(); });

function retry() {
  start().catch(() => {
    showProblem("The page's server does not answer. Trying again.");
    setTimeout(retry, 2000);
  });
}

retry();
