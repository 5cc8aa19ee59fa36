// One answer of the assistant, streamed or from the history: segments of text, files, sources, its end.

import { alertOf, button, element } from "./dom.js";
import { fileBlock, isText } from "./files.js";
import { t } from "./texts.js";
import { openSource, placeOf } from "./viewer.js";

export class Answer {
  constructor(domain) {
    this.domain = domain;
    this.sources = new Map();
    this.segments = [];
    this.isNew = true;
    this.root = element("div", "part");
    this.root.setAttribute("aria-busy", "true");
    this.body = element("div", "answer");
    this.status = element("p", "status", t.working);
    this.root.append(this.body, this.status);
  }

  // True when the event is the stream's last one.
  take(event) {
    const status = event.progressStatus;
    if (status === "LLM_GENERATION") this.say(event.content ?? "");
    else if (status === "SEGMENT_BREAK") this.isNew = true;
    else if (status === "ANSWER") this.give(event.content, event.contentType);
    else if (status === "SOURCES") this.list(event.sources);
    else if (status === "ERROR") this.fail(event.error.message);
    else if (t.stages[status]) this.status.textContent = t.stages[status];
    return status === "DONE" || status === "ERROR";
  }

  fill(message) {
    if (message.introduction) this.say(message.introduction);
    if (message.content) this.give(message.content, message.contentType);
    this.list(message.sources);
    if (message.status === "FAILED") this.fail(message.error?.message ?? t.ended.FAILED);
    else if (t.ended[message.status]) this.note(t.ended[message.status]);
    this.end();
  }

  say(text) {
    if (this.isNew) this.segments.push({ text: "", node: this.body.appendChild(element("div", "segment")) });
    this.isNew = false;
    const segment = this.segments.at(-1);
    segment.text += text;
    this.draw(segment);
  }

  give(content, contentType) {
    if (isText(contentType)) return this.say(content);
    this.body.append(fileBlock(content, contentType));
    this.isNew = true;
  }

  draw({ text, node }) {
    const parts = text.split(/\n{2,}/).filter((part) => part.trim());
    node.replaceChildren(...parts.map((part) => this.paragraph(part)));
  }

  paragraph(text) {
    const quote = /^([„“"][\s\S]*)\n— (.*)$/.exec(text.trim());
    if (!quote) return this.withCitations(element("p"), text);
    const block = element("blockquote");
    block.append(this.withCitations(element("p"), quote[1]), element("footer", "", quote[2]));
    return block;
  }

  withCitations(node, text) {
    text.split(/\[(\d{1,4})\]/).forEach((piece, index, pieces) => {
      if (index % 2) return node.append(this.citation(Number(piece)));
      node.append(index < pieces.length - 1 ? piece.replace(/ $/, "\u00a0") : piece);
    });
    return node;
  }

  citation(number) {
    const made = button("cite", String(number), () => openSource(this.sources.get(number), this.domain));
    made.disabled = !this.sources.has(number);
    made.setAttribute("aria-label", t.source(number));
    return made;
  }

  list(sources) {
    for (const source of sources) this.sources.set(source.number, source);
    for (const segment of this.segments) this.draw(segment);
    if (!sources.length) return;
    const section = element("section", "sources");
    const list = element("ol");
    list.append(...sources.map((source) => this.listed(source)));
    section.append(element("h3", "", t.sources), list);
    this.root.append(section);
  }

  listed(source) {
    const opener = button("", undefined, () => openSource(source, this.domain));
    const where = element("span", "where", `${source.documentName} `);
    where.append(element("span", "", `· ${placeOf(source)}`));
    opener.append(element("span", "number", source.number), where, element("span", "text", source.text ?? ""));
    const item = element("li");
    item.append(opener);
    return item;
  }

  note(text) {
    this.root.append(element("p", "notice", text));
  }

  fail(message) {
    this.root.append(alertOf(message));
  }

  end() {
    this.status.remove();
    if (!this.body.hasChildNodes()) this.body.remove();
    this.root.removeAttribute("aria-busy");
  }
}
