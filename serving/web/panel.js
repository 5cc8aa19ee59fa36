// The panel of chats: always there on a wide screen, folded away on a small one.

import { byId } from "./dom.js";

const panel = byId("panel");
const opener = byId("show-panel");
const behind = [byId("talk"), byId("ask")];
const isWide = matchMedia("(min-width: 64rem)");

export function closePanel() {
  fold(true);
}

function fold(isFolded) {
  panel.classList.toggle("open", !isFolded);
  opener.setAttribute("aria-expanded", String(!isFolded));
  for (const node of behind) node.inert = !isFolded;
}

opener.addEventListener("click", () => {
  fold(panel.classList.contains("open"));
  if (panel.classList.contains("open")) byId("new-chat").focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !panel.classList.contains("open") || document.querySelector("dialog[open]")) return;
  closePanel();
  opener.focus();
});
document.addEventListener("click", (event) => {
  if (!panel.classList.contains("open")) return;
  const isOutside = event.target === document.body || event.target === document.documentElement;
  const isChosen = event.target.closest("#panel a") !== null;
  if (isOutside || isChosen) closePanel();
  if (isChosen) byId("talk").focus({ preventScroll: true });
});
isWide.addEventListener("change", closePanel);
