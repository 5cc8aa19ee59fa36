const TEXTS = {
  en: {
    domain: "Domain",
    welcomeTitle: "Ask your documents",
    welcomeText: "Every answer names its sources. Click a number to see the sentence on its page.",
    questionLabel: "Question",
    placeholder: "Ask…",
    send: "Ask",
    stop: "Stop",
    close: "Close",
    pageBack: "‹ Previous page",
    pageOn: "Next page ›",
    original: "Original",
    sources: "Sources",
    source: (number) => `Source ${number}`,
    place: (page, sentence) => `page ${page}, sentence ${sentence}`,
    placeSummary: (page) => `page ${page}, summary`,
    compiled: "compiled from the knowledge store",
    page: (page) => `Page ${page}`,
    noDomains: "The store is empty. Fill it with: tudastar ingest PATH --domain NAME",
    stopped: "Stopped.",
    brokeOff: "The connection broke off before the answer was complete.",
    unreachable: "The server cannot be reached.",
    pageGone: "This page cannot be shown; it may have changed since. The source says:",
    tokenTitle: "Access token",
    tokenText: "This server asks for a token. It is what TUDASTAR_TOKEN was set to.",
    tokenSend: "Open",
    working: "Working…",
    stages: {
      QUESTION_ANALYSIS: "Reading the question…",
      TOOL_ROUTING: "Choosing tools…",
      CONTEXT_SEARCH: "Searching the knowledge store…",
      ANSWER_GENERATION: "Writing the answer…",
    },
  },
  hu: {
    domain: "Terület",
    welcomeTitle: "Kérdezze a dokumentumait",
    welcomeText: "Minden válasz megnevezi a forrásait. Egy számra kattintva a mondat a saját oldalán nyílik meg.",
    questionLabel: "Kérdés",
    placeholder: "Kérdezzen…",
    send: "Kérdezek",
    stop: "Leállítás",
    close: "Bezárás",
    pageBack: "‹ Előző oldal",
    pageOn: "Következő oldal ›",
    original: "Eredeti",
    sources: "Források",
    source: (number) => `${number}. forrás`,
    place: (page, sentence) => `${page}. oldal, ${sentence}. mondat`,
    placeSummary: (page) => `${page}. oldal, összefoglaló`,
    compiled: "a tudástár összesítése",
    page: (page) => `${page}. oldal`,
    noDomains: "A tudástár üres. Töltse fel így: tudastar ingest MAPPA --domain NÉV",
    stopped: "Leállítva.",
    brokeOff: "A kapcsolat megszakadt, mielőtt a válasz teljes lett volna.",
    unreachable: "A kiszolgáló nem érhető el.",
    pageGone: "Ez az oldal nem mutatható meg; azóta megváltozhatott. A forrás szövege:",
    tokenTitle: "Hozzáférési kulcs",
    tokenText: "Ez a kiszolgáló kulcsot kér: azt, amelyre a TUDASTAR_TOKEN be van állítva.",
    tokenSend: "Megnyitás",
    working: "Dolgozom…",
    stages: {
      QUESTION_ANALYSIS: "A kérdés értelmezése…",
      TOOL_ROUTING: "Az eszközök kiválasztása…",
      CONTEXT_SEARCH: "Keresés a tudástárban…",
      ANSWER_GENERATION: "A válasz megírása…",
    },
  },
};

const language = navigator.language.toLowerCase().startsWith("hu") ? "hu" : "en";
const t = TEXTS[language];
const byId = (id) => document.getElementById(id);
const page = {
  domain: byId("domain"), welcome: byId("welcome"), turns: byId("turns"), form: byId("ask"),
  question: byId("question"), send: byId("send"), stop: byId("stop"),
};

let chatId = null;
let running = null;
let token = sessionStorage.getItem("tudastar-token");

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function translate() {
  document.documentElement.lang = language;
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = t[node.dataset.text];
  for (const node of document.querySelectorAll("[data-label]")) {
    node.setAttribute("aria-label", t[node.dataset.label]);
    node.title = t[node.dataset.label];
  }
  page.question.placeholder = t.placeholder;
}

// ---- the server

class ServerError extends Error {}

async function call(path, options = {}) {
  for (;;) {
    const headers = { ...options.headers };
    if (token) headers.Authorization = `Bearer ${token}`;
    let response;
    try {
      response = await fetch(path, { ...options, headers });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ServerError(t.unreachable);
    }
    if (response.ok) return response;
    const problem = await response.json().catch(() => ({}));
    if (response.status !== 401) throw new ServerError(problem.detail || `${response.status} ${response.statusText}`);
    await askForToken();
  }
}

function askForToken() {
  const door = byId("door");
  return new Promise((resolve) => {
    byId("door-form").onsubmit = () => {
      token = byId("token").value.trim();
      sessionStorage.setItem("tudastar-token", token);
      byId("token").value = "";
    };
    door.onclose = resolve;
    door.showModal();
  });
}

async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    waiting += value;
    const blocks = waiting.split("\n\n");
    waiting = blocks.pop();
    for (const block of blocks) {
      const data = block.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
      if (data.length) yield JSON.parse(data.join("\n"));
    }
  }
}

// ---- a turn: question, progress, answer, sources

class Turn {
  constructor(question, domain) {
    this.domain = domain;
    this.segments = [""];
    this.sources = new Map();
    this.root = element("article", "turn");
    this.root.append(element("h2", "", question));
    this.status = element("p", "status", t.working);
    this.answer = element("div", "answer");
    this.root.append(this.answer, this.status);
    page.turns.append(this.root);
  }

  take(event) {
    const status = event.progressStatus;
    if (event.chatId) chatId = event.chatId;
    if (status === "LLM_GENERATION") this.say(event.content ?? "");
    else if (status === "SEGMENT_BREAK") this.segments.push("");
    else if (status === "ANSWER") this.give(event);
    else if (status === "SOURCES") this.list(event.sources);
    else if (status === "ERROR") this.fail(event.error.message);
    else if (t.stages[status]) this.status.textContent = t.stages[status];
    return status === "DONE" || status === "ERROR";
  }

  say(text) {
    this.segments[this.segments.length - 1] += text;
    this.draw();
  }

  give(event) {
    if (event.contentType === null) return this.say(event.content);
    const kind = event.contentType.toUpperCase();
    if (kind !== "BASE64_PDF") return this.say(event.content);
    const bytes = Uint8Array.from(atob(event.content), (letter) => letter.charCodeAt(0));
    const link = element("a", "", "PDF");
    link.href = URL.createObjectURL(new Blob([bytes], { type: "application/pdf" }));
    link.download = "tudastar.pdf";
    this.answer.append(link);
  }

  draw() {
    const parts = this.segments.flatMap((segment) => segment.split(/\n{2,}/)).filter((part) => part.trim());
    this.answer.replaceChildren(...parts.map((part) => this.paragraph(part)));
    follow(this.root);
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
    const button = element("button", "cite", String(number));
    button.type = "button";
    button.disabled = !this.sources.has(number);
    button.setAttribute("aria-label", t.source(number));
    button.onclick = () => openSource(this.sources.get(number), this.domain);
    return button;
  }

  list(sources) {
    for (const source of sources) this.sources.set(source.number, source);
    this.draw();
    if (!sources.length) return;
    const section = element("section", "sources");
    const list = element("ol");
    list.append(...sources.map((source) => this.listed(source)));
    section.append(element("h3", "", t.sources), list);
    this.root.append(section);
  }

  listed(source) {
    const button = element("button");
    button.type = "button";
    const where = element("span", "where", `${source.documentName} `);
    where.append(element("span", "", `· ${placeOf(source)}`));
    button.append(element("span", "number", source.number), where, element("span", "text", source.text ?? ""));
    button.onclick = () => openSource(source, this.domain);
    const item = element("li");
    item.append(button);
    return item;
  }

  fail(message) {
    const shown = element("p", "error", message);
    shown.setAttribute("role", "alert");
    this.root.append(shown);
  }

  end() {
    this.status.remove();
    follow(this.root);
  }
}

function placeOf(source) {
  if (source.generated) return t.compiled;
  if (source.sentenceNumber < 0) return t.placeSummary(source.page + 1);
  return t.place(source.page + 1, source.sentenceNumber + 1);
}

// Keeps the end of a growing answer in view, but never moves its question out of it.
function follow(turn) {
  const root = document.scrollingElement;
  const end = root.scrollHeight - root.clientHeight;
  const question = turn.offsetTop - document.querySelector(".top").offsetHeight - 16;
  if (end - root.scrollTop < 240) root.scrollTop = Math.max(root.scrollTop, Math.min(end, question));
}

async function ask(question) {
  const domain = page.domain.value;
  const turn = new Turn(question, domain);
  page.welcome.hidden = true;
  turn.root.scrollIntoView({ block: "start" });
  running = new AbortController();
  busy(true);
  try {
    const body = JSON.stringify({ message: question, domain, ...(chatId ? { chatId } : {}) });
    const response = await call("/api/chatbot/chat", {
      method: "POST", body, headers: { "Content-Type": "application/json" }, signal: running.signal,
    });
    let ended = false;
    for await (const event of eventsOf(response)) ended = turn.take(event) || ended;
    if (!ended) turn.fail(t.brokeOff);
  } catch (error) {
    if (error.name === "AbortError") turn.root.append(element("p", "notice", t.stopped));
    else turn.fail(error instanceof ServerError ? error.message : t.brokeOff);
  } finally {
    turn.end();
    running = null;
    busy(false);
  }
}

function busy(isBusy) {
  page.send.hidden = isBusy;
  page.stop.hidden = !isBusy;
  if (!isBusy && matchMedia("(hover: hover)").matches) page.question.focus({ preventScroll: true });
}

// ---- a source on its page

const viewer = { root: byId("viewer"), name: byId("viewer-name"), place: byId("viewer-place"),
  text: byId("viewer-text"), back: byId("viewer-back"), on: byId("viewer-on"), link: byId("viewer-link") };
let shown = null;

async function openSource(source, domain) {
  shown = { source, domain };
  viewer.name.textContent = source.documentName;
  viewer.text.replaceChildren();
  viewer.link.hidden = !/^https?:\/\//i.test(source.documentUrl ?? "");
  if (!viewer.link.hidden) viewer.link.href = source.documentUrl;
  viewer.back.hidden = viewer.on.hidden = source.generated;
  if (!viewer.root.open) viewer.root.showModal();
  if (!source.generated) return showPage(source.page);
  viewer.place.textContent = placeOf(source);
  viewer.text.replaceChildren(element("p", "", source.text ?? ""));
}

async function showPage(number) {
  const { source, domain } = shown;
  const isOwn = number === source.page;
  viewer.place.textContent = isOwn ? placeOf(source) : t.page(number + 1);
  const found = await fetchPage(source.documentId, number, domain);
  if (shown.source !== source) return;
  if (!found) {
    if (isOwn) viewer.text.replaceChildren(element("p", "place", t.pageGone), element("p", "", source.text ?? ""));
    viewer.back.disabled = viewer.on.disabled = true;
    return;
  }
  const text = element("p");
  let marked = null;
  if (found.summary !== null) {
    const summary = element("p", "summary");
    const wanted = isOwn && source.sentenceNumber < 0;
    const node = element(wanted ? "mark" : "span", "", found.summary);
    if (wanted) marked = node;
    summary.append(node);
    viewer.text.replaceChildren(summary, text);
  } else viewer.text.replaceChildren(text);
  for (const sentence of found.sentences) {
    const wanted = isOwn && sentence.sentenceNumber === source.sentenceNumber;
    const node = element(wanted ? "mark" : "span", "", sentence.text);
    node.dataset.sentence = sentence.sentenceNumber;
    if (wanted) marked = node;
    text.append(node, " ");
  }
  viewer.text.scrollTop = 0;
  if (marked) marked.scrollIntoView({ block: "center" });
  shown.page = number;
  viewer.back.disabled = number === 0;
  viewer.on.disabled = !(await fetchPage(source.documentId, number + 1, domain));
}

async function fetchPage(documentId, number, domain) {
  const path = `/api/documents/${encodeURIComponent(documentId)}/pages/${number}`;
  try {
    return await (await call(`${path}?domain=${encodeURIComponent(domain)}`)).json();
  } catch (error) {
    return null;
  }
}

// ---- wiring

page.form.addEventListener("submit", (event) => {
  event.preventDefault();
  const question = page.question.value.trim();
  if (!question || running || !page.domain.value) return;
  page.question.value = "";
  ask(question);
});
page.question.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  page.form.requestSubmit();
});
page.stop.addEventListener("click", () => running?.abort());
page.domain.addEventListener("change", () => {
  chatId = null;
  localStorage.setItem("tudastar-domain", page.domain.value);
});
viewer.back.addEventListener("click", () => showPage(shown.page - 1));
viewer.on.addEventListener("click", () => showPage(shown.page + 1));
byId("viewer-close").addEventListener("click", () => viewer.root.close());
viewer.root.addEventListener("click", (event) => { if (event.target === viewer.root) viewer.root.close(); });

async function start() {
  translate();
  try {
    const { domains } = await (await call("/api/domains")).json();
    page.domain.replaceChildren(...domains.map(({ name }) => new Option(name, name)));
    page.domain.disabled = !domains.length;
    const last = domains.find(({ name }) => name === localStorage.getItem("tudastar-domain"));
    const first = last ?? domains.find(({ languages }) => languages[0] === language) ?? domains[0];
    if (first) page.domain.value = first.name;
    if (!domains.length) page.welcome.append(element("p", "notice", t.noDomains));
    page.question.focus();
  } catch (error) {
    page.welcome.append(element("p", "error", error.message));
  }
}

start();
