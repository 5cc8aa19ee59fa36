// The chat that is open: its turns, the answer that is on its way, the question that is pending.

import { Answer } from "./answer.js";
import { alertOf, element } from "./dom.js";
import { releaseFiles } from "./files.js";
import { Question } from "./question.js";
import { eventsOf, fetchJson, send, ServerError } from "./server.js";
import { t } from "./texts.js";

const LOOK_AGAIN_MS = 2000;

export class Talk {
  chatId = null;
  #running = null;
  #pending = null;
  #turn = null;

  // `hooks`: onBusy(isBusy, pending), onChat(chatId), onEnd(), onShown(chat).
  constructor(root, welcome, hooks) {
    this.root = root;
    this.welcome = welcome;
    this.hooks = hooks;
  }

  get isBusy() {
    return this.#running !== null;
  }

  stop() {
    this.#running?.abort();
  }

  clear() {
    this.stop();
    this.#running = this.#pending = this.#turn = this.chatId = null;
    this.root.replaceChildren();
    this.welcome.hidden = false;
    releaseFiles();
    this.hooks.onBusy(false, null);
  }

  async ask(message, domain) {
    const turn = this.#addTurn(message);
    turn.scrollIntoView({ block: "start" });
    const body = { message, domain, ...(this.chatId ? { chatId: this.chatId } : {}) };
    await this.#run("chat", body, turn, domain, () => {}, (error, answer) => answer.fail(error.message));
  }

  async #clarify(question, text) {
    if (this.isBusy) return;
    const body = { chatId: this.chatId, answer: text };
    const begun = (answer) => {
      question.close();
      this.#pending = null;
      answer.root.before(element("p", "said", text));
    };
    const refused = (error, answer) => {
      answer.root.remove();
      if (!question.fail(error)) this.#pending = null;
    };
    const turn = this.#turn;
    const ended = await this.#run("clarify", body, turn, question.domain, begun, refused);
    // The server may have died in the middle of it; then the question waits again when it is back.
    if (ended === false && !this.#pending && turn === this.#turn) this.#put(question.asked, question.domain, turn);
  }

  // Whether the stream came to its end; undefined when it was refused or stopped.
  async #run(path, body, turn, domain, begun, refused) {
    const control = this.#begin();
    const answer = new Answer(domain);
    turn.append(answer.root);
    let ended;
    try {
      const response = await send("POST", `/api/chatbot/${path}`, body, control.signal);
      begun(answer);
      ended = false;
      ended = await this.#read(response, answer, turn, control.signal);
      if (!ended) answer.fail(t.brokeOff);
    } catch (error) {
      if (error.name === "AbortError") answer.note(t.stopped);
      else if (ended === undefined) refused(error, answer);
      else answer.fail(error instanceof ServerError ? error.message : t.brokeOff);
      if (error.name === "AbortError") ended = undefined;
    } finally {
      answer.end();
      follow(turn);
      this.#end(control);
    }
    return ended;
  }

  async #read(response, answer, turn, signal) {
    let ended = false;
    for await (const event of eventsOf(response)) {
      signal.throwIfAborted();
      const status = event.progressStatus;
      if (status === "CHAT") this.#name(event.chatId);
      else if (status === "INTERACTIVE_QUESTION") this.#put(event.question, answer.domain, turn);
      else if (status === "QUESTION_DROPPED") this.#drop(event.question, answer);
      else ended = answer.take(event) || ended;
      follow(turn);
    }
    return ended;
  }

  #begin() {
    this.#running?.abort();
    this.#running = new AbortController();
    this.#pending?.pause();
    this.hooks.onBusy(true, null);
    return this.#running;
  }

  // A stream that was stopped for another chat no longer changes anything.
  #end(control) {
    if (this.#running !== control) return;
    this.#running = null;
    this.#pending?.resume();
    this.hooks.onBusy(false, this.#pending);
    this.hooks.onEnd();
  }

  #name(chatId) {
    if (this.chatId === chatId) return;
    this.chatId = chatId;
    this.hooks.onChat(chatId);
  }

  #addTurn(message) {
    this.welcome.hidden = true;
    this.#turn = element("article", "turn");
    this.#turn.append(element("h2", "", message));
    this.root.append(this.#turn);
    return this.#turn;
  }

  #put(asked, domain, turn) {
    const question = new Question(asked, domain, (...given) => this.#clarify(...given));
    turn.append(question.root);
    if (this.isBusy) question.pause();
    this.#pending = question;
    return question;
  }

  #drop(asked, answer) {
    if (this.#pending) this.#pending.close(t.dropped);
    else answer.note(t.droppedElsewhere(asked.text));
    this.#pending = null;
  }

  // ---- from the history

  async open(chatId) {
    this.clear();
    this.chatId = chatId;
    this.welcome.hidden = true;
    const control = this.#begin();
    try {
      const chat = await fetchChat(chatId, control.signal);
      if (this.#running === control) this.#show(chat);
    } catch (error) {
      if (this.#running === control) this.#cannotShow(error);
    } finally {
      this.#end(control);
    }
  }

  #show(chat) {
    this.root.setAttribute("aria-live", "off");
    for (const message of chat.messages) this.#showMessage(message);
    const last = chat.messages.at(-1);
    if (last?.kind !== "QUESTION") this.#closePending(t.dropped);
    if (last?.status === "RUNNING") this.#lookAgain(last.sequence, this.#turn);
    this.#turn?.scrollIntoView({ block: "start" });
    setTimeout(() => this.root.setAttribute("aria-live", "polite"));
    this.hooks.onShown(chat);
  }

  #showMessage(message) {
    if (message.kind === "MESSAGE") {
      this.#closePending(t.dropped);
      return this.#addTurn(message.content);
    }
    const turn = this.#turn ?? this.#addTurn("");
    if (message.kind === "REPLY") {
      this.#closePending();
      turn.append(element("p", "said", message.content));
    } else if (message.kind === "QUESTION") this.#put(message.question, message.domain, turn);
    else {
      const answer = new Answer(message.domain);
      turn.append(answer.root);
      answer.fill(message);
    }
  }

  #closePending(note) {
    this.#pending?.close(note);
    this.#pending = null;
  }

  #cannotShow(error) {
    if (error.name === "AbortError" || error.code === "UNKNOWN_CHAT") this.chatId = null;
    this.root.append(error.name === "AbortError" ? element("p", "notice", t.stopped) : alertOf(error.message));
  }

  // An answer that is made for another window: shown when it is there.
  async #lookAgain(sequence, turn) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    if (this.#turn !== turn || this.isBusy) return;
    const found = await fetchJson(`${pathOf(this.chatId)}?limit=1&after=${sequence - 1}`).catch(() => null);
    if (this.#turn !== turn || this.isBusy) return;
    if (found?.messages[0]?.status === "RUNNING") return this.#lookAgain(sequence, turn);
    if (found) await this.open(this.chatId);
  }
}

export const pathOf = (chatId) => `/api/chatbot/chats/${encodeURIComponent(chatId)}`;

async function fetchChat(chatId, signal) {
  const messages = [];
  for (let after = -1; ;) {
    const chat = await fetchJson(`${pathOf(chatId)}?limit=100&after=${after}`, { signal });
    messages.push(...chat.messages);
    if (chat.next === null) return { ...chat, messages };
    after = chat.next;
  }
}

// Keeps the end of a growing answer in view, but never moves its question out of it.
function follow(turn) {
  const root = document.scrollingElement;
  const end = root.scrollHeight - root.clientHeight;
  const question = turn.offsetTop - document.querySelector(".top").offsetHeight - 16;
  if (end - root.scrollTop < 240) root.scrollTop = Math.max(root.scrollTop, Math.min(end, question));
}
