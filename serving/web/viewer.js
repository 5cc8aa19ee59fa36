// A source on its page.

import { byId, element } from "./dom.js";
import { fetchJson } from "./server.js";
import { t } from "./texts.js";

const viewer = { root: byId("viewer"), name: byId("viewer-name"), place: byId("viewer-place"),
  text: byId("viewer-text"), back: byId("viewer-back"), on: byId("viewer-on"), link: byId("viewer-link") };
let shown = null;

export function placeOf(source) {
  if (source.generated) return t.compiled;
  if (source.sentenceNumber < 0) return t.placeSummary(source.page + 1);
  return t.place(source.page + 1, source.sentenceNumber + 1);
}

export async function openSource(source, domain) {
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
  drawPage(found, isOwn ? source.sentenceNumber : null);
  shown.page = number;
  viewer.back.disabled = number === 0;
  viewer.on.disabled = !(await fetchPage(source.documentId, number + 1, domain));
}

// The wanted sentence is marked; a negative number stands for the page's summary, null for none.
function drawPage(found, wanted) {
  const text = element("p");
  const parts = [text];
  if (found.summary !== null) {
    const summary = element("p", "summary");
    summary.append(element(wanted !== null && wanted < 0 ? "mark" : "span", "", found.summary));
    parts.unshift(summary);
  }
  for (const sentence of found.sentences) {
    const node = element(sentence.sentenceNumber === wanted ? "mark" : "span", "", sentence.text);
    node.dataset.sentence = sentence.sentenceNumber;
    text.append(node, " ");
  }
  viewer.text.replaceChildren(...parts);
  viewer.text.scrollTop = 0;
  viewer.text.querySelector("mark")?.scrollIntoView({ block: "center" });
}

async function fetchPage(documentId, number, domain) {
  const path = `/api/documents/${encodeURIComponent(documentId)}/pages/${number}`;
  try {
    return await fetchJson(`${path}?domain=${encodeURIComponent(domain)}`);
  } catch {
    return null;
  }
}

viewer.back.addEventListener("click", () => showPage(shown.page - 1));
viewer.on.addEventListener("click", () => showPage(shown.page + 1));
byId("viewer-close").addEventListener("click", () => viewer.root.close());
viewer.root.addEventListener("click", (event) => { if (event.target === viewer.root) viewer.root.close(); });
