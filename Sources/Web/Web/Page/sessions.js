// The browsers and devices that are logged in, for administrators.

import {button, isolated, make, replace} from "./elements.js";
import {age, dayTime} from "./model.js";
import {resultLine} from "./result.js";

// How often the list is read again, in milliseconds.
const interval = 10000;

export function sessionsPage(root, {connection, model}) {
  const table = make("table", {class: "sessions"}), result = resultLine();
  root.append(make("h1", {}, "Sessions"),
    make("p", {class: "quiet"}, "A browser is logged out after 12 hours without use, and after 30 days.",
      ...(connection.session.has_links ? [" A device stays logged in: run ", make("code", {}, "jacquard2mqtt-web open --device hall"), " on the page's host."] : [])),
    make("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Sessions"}, table), result);
  let sessions = [];

  async function read() {
    const answer = await connection.sessions();
    if (!answer.ok) return result.show(answer);
    sessions = answer.data;
    draw();
  }

  async function end({id, is_own: isOwn}, control) {
    control.disabled = true;
    const answer = await connection.endSession(id);
    result.show(answer);
    if (isOwn && answer.ok) connection.onSessionLost();
    else await read();
  }

  function draw() {
    const now = model.now();
    const rows = sessions.map(each => ({...each, began: dayTime(each.began_ms, now), used: each.is_own ? "now" : age(each.used_ms, now)}));
    replace(table, JSON.stringify(rows.map(({used_ms: _, ...row}) => row)), () => [
      make("thead", {}, make("tr", {}, ...["Session", "Since", "Used", "End"].map(title => make("th", {scope: "col"}, title)))),
      make("tbody", {}, ...rows.map(line))]);
  }

  function line(each) {
    const name = each.device ?? (each.user || "a browser");
    const control = button("End", () => end(each, control), {"aria-label": `End the session of ${name}`});
    return make("tr", {}, make("th", {scope: "row"}, isolated(name), ...(each.is_own ? [" (this one)"] : [])),
      make("td", {class: "time"}, each.began), make("td", {class: "time"}, each.used), make("td", {}, control));
  }

  read();
  const timer = setInterval(read, interval);
  return {title: "Sessions", update: draw, close: () => clearInterval(timer)};
}
