// A question of a tool to the user: open, paused while work goes on, or closed.

import { alertOf, button, element } from "./dom.js";
import { t } from "./texts.js";

// Problems after which the question can no longer be answered.
const FINAL = new Set(["NO_PENDING_QUESTION", "QUESTION_ALREADY_ANSWERED", "QUESTION_EXPIRED", "UNKNOWN_CHAT"]);
let made = 0;

export class Question {
  // `asked` as in the event; `answer(question, text)` sends what the user chose or wrote.
  constructor(asked, domain, answer) {
    this.asked = asked;
    this.domain = domain;
    this.answer = (text) => { this.forgive(); answer(this, text); };
    this.isOpen = true;
    this.root = element("form", "asked");
    this.root.autocomplete = "off";
    this.root.onsubmit = (event) => this.submit(event);
    this.group = element("fieldset");
    this.group.append(element("legend", "", asked.text), ...this.controls());
    this.root.append(this.group);
  }

  controls() {
    const parts = [];
    if (this.asked.options.length) {
      const options = element("div", "options");
      options.append(...this.asked.options.map((option) => button("", option, () => this.answer(option))));
      parts.push(options);
    }
    if (this.asked.allowFreeText || !this.asked.options.length) parts.push(this.freeText());
    return parts;
  }

  freeText() {
    const row = element("div", "free");
    const label = element("label", "", this.asked.options.length ? t.otherAnswer : t.yourAnswer);
    this.field = element("input");
    this.field.id = label.htmlFor = `free-text-${++made}`;
    this.field.maxLength = 8000;
    this.field.required = true;
    const sender = element("button", "primary", t.answer);
    row.append(label, this.field, sender);
    return row;
  }

  submit(event) {
    event.preventDefault();
    if (this.isOpen && this.field) this.answer(this.field.value);
  }

  pause() {
    this.group.disabled = true;
  }

  resume() {
    this.group.disabled = !this.isOpen;
  }

  focus() {
    const first = (this.error && this.field) || this.group.querySelector("button, input");
    first?.focus({ preventScroll: true });
  }

  // Answered, or no longer to be answered: the note says why.
  close(note) {
    this.isOpen = false;
    this.group.replaceChildren(this.group.firstChild);
    if (note) this.root.append(element("p", "note", note));
  }

  // Whether the question can still be answered after this error.
  fail(error) {
    const isFinal = FINAL.has(error.code);
    if (isFinal) this.close(t.expiredNote);
    this.forgive();
    this.error = alertOf(error.message);
    this.root.append(this.error);
    return !isFinal;
  }

  forgive() {
    this.error?.remove();
    this.error = null;
  }
}
