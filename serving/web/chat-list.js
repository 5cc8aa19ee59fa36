// The user's chats: the list, and what can be done with each.

import { confirmRemoval, editTitle } from "./chat-dialogs.js";
import { alertOf, button, byId, element } from "./dom.js";
import { call, fetchJson, send } from "./server.js";
import { pathOf } from "./talk.js";
import { t } from "./texts.js";

const LIST = "/api/chatbot/chats";

export class ChatList {
  #chats = [];
  #next = null;
  #hasMore = false;
  #open = null;

  // `hooks`: onRemoved(chatId), onTitle(title).
  constructor(hooks) {
    this.hooks = hooks;
    this.root = byId("chat-list");
    this.moreButton = byId("more-chats");
    this.moreButton.onclick = () => this.#guarded(() => this.#more());
  }

  mark(chatId) {
    this.#open = chatId;
    this.#draw();
  }

  // The newest ones anew; what "more" has brought stays behind them.
  refresh() {
    return this.#guarded(async () => {
      const { chats, next } = await fetchJson(LIST);
      const isWhole = !this.#hasMore || next === null;
      this.#chats = isWhole ? chats : joined(chats, this.#chats);
      if (isWhole) this.#next = next;
      this.#draw();
    });
  }

  async #more() {
    const { chats, next } = await fetchJson(`${LIST}?cursor=${encodeURIComponent(this.#next)}`);
    this.#chats = joined(this.#chats, chats);
    this.#next = next;
    this.#hasMore = true;
    this.#draw();
    if (chats.length) this.#focus(chats[0].chatId);
  }

  async #guarded(work) {
    try {
      await work();
      byId("chats-error").replaceChildren();
    } catch (error) {
      byId("chats-error").replaceChildren(alertOf(error.message));
    }
  }

  #draw() {
    const focused = document.activeElement?.closest?.("#chat-list li")?.dataset.chat;
    this.root.replaceChildren(...this.#chats.map((chat) => this.#item(chat)));
    byId("no-chats").hidden = this.#chats.length > 0;
    this.moreButton.hidden = this.#next === null;
    if (focused) this.#focus(focused);
    const open = this.#chats.find(({ chatId }) => chatId === this.#open);
    if (open) this.hooks.onTitle(open.title);
  }

  #item(chat) {
    const link = element("a", "", chat.title);
    link.href = `#chat=${chat.chatId}`;
    link.title = chat.title;
    if (chat.chatId === this.#open) link.setAttribute("aria-current", "true");
    const item = element("li");
    item.dataset.chat = chat.chatId;
    item.append(link, tool("✎", t.rename(chat.title), () => this.#rename(chat)),
      tool("✕", t.remove(chat.title), () => this.#remove(chat)));
    return item;
  }

  #rename(chat) {
    editTitle(chat.title, async (title) => {
      await send("PATCH", pathOf(chat.chatId), { title });
      await this.refresh();
      this.#focus(chat.chatId);
    });
  }

  #remove(chat) {
    confirmRemoval(chat.title, async () => {
      await call(pathOf(chat.chatId), { method: "DELETE" });
      this.#chats = this.#chats.filter((other) => other !== chat);
      byId("new-chat").focus();
      this.hooks.onRemoved(chat.chatId);
      await this.refresh();
    });
  }

  #focus(chatId) {
    this.root.querySelector(`[data-chat="${CSS.escape(chatId)}"] a`)?.focus();
  }
}

function tool(sign, label, act) {
  const made = button("plain", sign, act);
  made.setAttribute("aria-label", label);
  made.title = label;
  return made;
}

function joined(first, further) {
  const known = new Set(first.map(({ chatId }) => chatId));
  return [...first, ...further.filter(({ chatId }) => !known.has(chatId))];
}
