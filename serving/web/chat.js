// The page: what is typed, chosen and opened, and the address that tells which chat is open.

import { ChatList } from "./chat-list.js";
import { alertOf, byId, element, mayTakeFocus, translate } from "./dom.js";
import { closePanel } from "./panel.js";
import { fetchJson } from "./server.js";
import { Talk } from "./talk.js";
import { language, t } from "./texts.js";

const DOMAIN_KEY = "tudastar-domain";
const page = { domain: byId("domain"), welcome: byId("welcome"), form: byId("ask"), question: byId("question"),
  send: byId("send"), stop: byId("stop") };

const talk = new Talk(byId("turns"), page.welcome, {
  onBusy: showBusy,
  onChat: (chatId) => {
    history.replaceState(null, "", `#chat=${chatId}`);
    chats.mark(chatId);
    chats.refresh();
  },
  onEnd: () => { if (talk.chatId) chats.refresh(); },
  onShown: (chat) => {
    chooseDomain(chat.domain);
    showTitle(chat.title);
  },
});
const chats = new ChatList({
  onRemoved: (chatId) => { if (chatId === talk.chatId) newChat(); },
  onTitle: showTitle,
});

const chatInAddress = () => /^#chat=([A-Za-z0-9_-]{1,64})$/.exec(location.hash)?.[1] ?? null;

async function followAddress() {
  const chatId = chatInAddress();
  if (chatId === talk.chatId) return;
  chats.mark(chatId);
  if (chatId === null) {
    showTitle("");
    return talk.clear();
  }
  await talk.open(chatId);
  if (talk.chatId === null && chatInAddress() === chatId) forgetAddress("replaceState");
}

function forgetAddress(how) {
  if (location.hash) history[how](null, "", location.pathname + location.search);
  chats.mark(null);
  showTitle("");
}

function showTitle(title) {
  document.title = title ? `${title} · Tudástár` : "Tudástár";
}

function newChat() {
  forgetAddress("pushState");
  talk.clear();
  closePanel();
  page.question.focus();
}

function showBusy(isBusy, pending) {
  page.send.hidden = isBusy;
  page.stop.hidden = !isBusy;
  if (isBusy || !mayTakeFocus()) return;
  if (pending) pending.focus();
  else page.question.focus({ preventScroll: true });
}

function chooseDomain(name) {
  if ([...page.domain.options].some((option) => option.value === name)) page.domain.value = name;
}

page.form.addEventListener("submit", (event) => {
  event.preventDefault();
  const question = page.question.value.trim();
  if (!question || talk.isBusy || !page.domain.value) return;
  page.question.value = "";
  talk.ask(question, page.domain.value);
});
page.question.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  page.form.requestSubmit();
});
page.stop.addEventListener("click", () => talk.stop());
page.domain.addEventListener("change", () => localStorage.setItem(DOMAIN_KEY, page.domain.value));
byId("new-chat").addEventListener("click", newChat);
addEventListener("hashchange", followAddress);

async function showDomains() {
  try {
    const { domains } = await fetchJson("/api/domains");
    page.domain.replaceChildren(...domains.map(({ name }) => new Option(name, name)));
    page.domain.disabled = !domains.length;
    const last = domains.find(({ name }) => name === localStorage.getItem(DOMAIN_KEY));
    const first = last ?? domains.find(({ languages }) => languages[0] === language) ?? domains[0];
    if (first) page.domain.value = first.name;
    if (!domains.length) page.welcome.append(element("p", "notice", t.noDomains));
  } catch (error) {
    page.welcome.append(alertOf(error.message));
  }
}

async function start() {
  translate();
  page.question.focus();
  await Promise.all([showDomains(), chats.refresh()]);
  await followAddress();
}

start();
