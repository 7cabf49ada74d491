// Makes elements. Text is always set as text: names come from radio messages of unknown devices.

const svgNamespace = "http://www.w3.org/2000/svg";

// make("a", {href: "#tags"}, "Tags", otherElement)
export function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function makeSVG(name, attributes = {}, ...children) {
  return fill(document.createElementNS(svgNamespace, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "value" || key === "checked" || key === "disabled") element[key] = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

// A text of unknown direction, which cannot change the direction of the text around it.
export function isolated(text) {
  return make("bdi", {}, text);
}

// A tag's name with its id behind it; only the name if the id is in it, and only the id without a name.
export function named(id, name) {
  return [isolated(name || id), ...(name && !name.includes(id) ? [" ", make("span", {class: "id"}, id)] : [])];
}

export function tagLink(id, name, attributes = {}) {
  return make("a", {class: "named", href: `#tag/${encodeURIComponent(id)}`, ...attributes}, ...named(id, name));
}

// Sets the text if it has changed, so that a screen reader does not read it again.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Replaces the children only if a key has changed: keeps the selection in an unchanged table. The focus goes to the control that takes the
// place of the one that had it.
export function replace(element, key, makeChildren) {
  if (element.dataset.key === key) return;
  const focused = element.contains(document.activeElement) && document.activeElement !== element ? document.activeElement : null;
  const peers = () => [...element.querySelectorAll(focused.tagName)], place = focused ? peers().indexOf(focused) : -1;
  element.replaceChildren(...makeChildren());
  element.dataset.key = key;
  if (!focused) return;
  const name = each => each.getAttribute("aria-label") ?? each.textContent, same = peers().filter(each => name(each) === name(focused));
  (same.length === 1 ? same[0] : peers()[place])?.focus({preventScroll: true});
}

// Shows the bridges that are online in a selection. The selected one stays selected while it is offline: a command must not go to another one.
export function showBridges(select, names) {
  const chosen = select.value, all = chosen && !names.includes(chosen) ? [...names, chosen].sort() : names;
  replace(select, JSON.stringify([all, names]), () => all.map(name => make("option", {value: name}, names.includes(name) ? name : `${name} (offline)`)));
  if (chosen) select.value = chosen;
}

// Makes the elements the children, in this order, and leaves those alone that are in their place: a selection in them stays.
export function place(parent, elements) {
  const wanted = new Set(elements);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  let next = parent.firstElementChild;
  for (const element of elements) {
    if (element === next) next = next.nextElementSibling;
    else parent.insertBefore(element, next);
  }
}

// Shows that something has just happened there.
export function flash(element) {
  element.classList.remove("flash");
  // Begins the animation again.
  void element.offsetWidth;
  element.classList.add("flash");
}

// Draws a part of the page. An error in it is reported in the console and does not stop the other parts.
export function attempt(draw) {
  try { return draw(); } catch (error) { console.error(error); return undefined; }
}

export function button(text, action, attributes = {}) {
  return make("button", {type: "button", ...attributes, onclick: action}, text);
}

// A text to copy, and the button for it. Only pages of this host or with encryption may write to the clipboard; on others the text is selected.
export function copyable(text) {
  const code = make("code", {}, text);
  const copy = button("Copy", async () => {
    try { await navigator.clipboard.writeText(text); setText(copy, "Copied"); } catch { getSelection().selectAllChildren(code); }
  }, {"aria-label": `Copy ${text}`});
  return [code, copy];
}

// Asks in a dialog whether something is to be destroyed. Resolves to whether the user confirmed it.
export function confirmed(title, text, yes) {
  return new Promise(resolve => {
    const close = answer => { dialog.close(); dialog.remove(); resolve(answer); };
    const dialog = make("dialog", {"aria-labelledby": "question", oncancel: () => close(false)},
      make("h2", {id: "question"}, title), make("p", {}, text),
      make("div", {class: "bar"}, button("Cancel", () => close(false)), button(yes, () => close(true), {class: "danger"})));
    document.body.append(dialog);
    dialog.showModal();
  });
}
