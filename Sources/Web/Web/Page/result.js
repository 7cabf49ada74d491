// The result of a command.

import {make, setText} from "./elements.js";
import {ring, tick} from "./drawings.js";

// How long the tick of a result is shown, in milliseconds.
const tickTime = 2000;

// A line for the result of a command, read out politely. On the screen, a command that is under way is a ring and one that has succeeded a
// tick, in a place that is kept free; other texts are shown.
export function resultLine() {
  const sign = make("span", {class: "sign"}), text = make("span");
  const line = make("p", {class: "result", "aria-live": "polite"}, sign, text);
  let timer = null;
  line.show = result => {
    clearTimeout(timer);
    line.classList.toggle("bad", !result.ok);
    const picture = result.isRunning ? ring : result.isDone ? tick : null;
    text.className = picture ? "skip" : "";
    sign.replaceChildren(...(picture ? [picture()] : []));
    sign.title = picture ? result.text : "";
    setText(text, result.text);
    if (result.isDone) timer = setTimeout(() => line.show({ok: true, text: ""}), tickTime);
  };
  return line;
}

// Sends a command and shows its progress and its result in a line. Resolves to the result.
export async function sendShown(connection, topic, payload, line) {
  const progress = text => line.show({ok: true, isRunning: true, text});
  progress("sending");
  const answer = await connection.send(topic, payload, {
    sent: () => progress("sent, waiting for the tag"),
    accepted: () => progress("accepted, waiting for the tag"),
  });
  line.show(answer);
  return answer;
}
