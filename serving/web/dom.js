import { language, t } from "./texts.js";

export const byId = (id) => document.getElementById(id);

// Text goes in as text: nothing that came from the server is ever markup.
export function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

export function button(className, text, act) {
  const made = element("button", className, text);
  made.type = "button";
  made.onclick = act;
  return made;
}

export function alertOf(text) {
  const made = element("p", "error", text);
  made.setAttribute("role", "alert");
  return made;
}

export function translate() {
  document.documentElement.lang = language;
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = t[node.dataset.text];
  for (const node of document.querySelectorAll("[data-label]")) {
    node.setAttribute("aria-label", t[node.dataset.label]);
    node.title = t[node.dataset.label];
  }
  for (const node of document.querySelectorAll("[data-hint]")) node.placeholder = t[node.dataset.hint];
}

// Where a finger is the pointer, taking the focus would open the keyboard.
export const mayTakeFocus = () => matchMedia("(hover: hover)").matches;
