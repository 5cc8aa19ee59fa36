// Answers that are files: kept in the browser's memory and offered as links.

import { alertOf, element } from "./dom.js";
import { t } from "./texts.js";

const PLAIN_TEXTS = new Set(["TEXT", "TEXT/PLAIN"]);
const PDFS = new Set(["PDF", "APPLICATION/PDF"]);
let urls = [];

export const isText = (contentType) => contentType === null || PLAIN_TEXTS.has(contentType.toUpperCase());

// Only a PDF is ever opened in the browser, always as a PDF. Everything else is saved, as bytes of no type,
// so that nothing a tool sends can run as a page of this server.
export function fileBlock(content, contentType) {
  const kind = contentType.toUpperCase().replace(/^BASE64_/, "");
  const isEncoded = kind.length < contentType.length;
  const isPdf = isEncoded && PDFS.has(kind);
  let bytes;
  try {
    bytes = isEncoded ? decoded(content) : content;
  } catch {
    return alertOf(t.damaged);
  }
  const type = isPdf ? "application/pdf" : "application/octet-stream";
  const url = URL.createObjectURL(new Blob([bytes], { type }));
  urls.push(url);
  const block = element("p", "file");
  if (isPdf) block.append(openLink(url));
  block.append(saveLink(url, `${t.fileName}.${isPdf ? "pdf" : endingOf(kind)}`));
  return block;
}

export function releaseFiles() {
  for (const url of urls) URL.revokeObjectURL(url);
  urls = [];
}

const decoded = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

// `image/png` and `PNG` give png; what is no plain short word gives bin.
function endingOf(kind) {
  const ending = kind.split("/").pop().toLowerCase();
  return /^[a-z0-9]{1,5}$/.test(ending) ? ending : "bin";
}

function openLink(url) {
  const link = element("a", "button", t.openPdf);
  link.href = url;
  link.target = "_blank";
  return link;
}

function saveLink(url, name) {
  const link = element("a", "button", t.download(name));
  link.href = url;
  link.download = name;
  return link;
}
