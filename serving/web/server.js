import { byId } from "./dom.js";
import { t } from "./texts.js";

const TOKEN_KEY = "tudastar-token";
let token = sessionStorage.getItem(TOKEN_KEY);
let door = null;

export class ServerError extends Error {
  constructor(message, code = "") {
    super(t.problems[code] ?? message);
    this.code = code;
  }
}

export async function call(path, options = {}) {
  for (;;) {
    const sent = token;
    const response = await reach(path, options, sent);
    if (response.ok) return response;
    const problem = await response.json().catch(() => ({}));
    const told = problem.detail || `${response.status} ${response.statusText}`;
    if (response.status !== 401) throw new ServerError(told, problem.code);
    if (token === sent && !(await askForToken(sent !== null))) throw new ServerError(told, problem.code);
  }
}

export const fetchJson = async (path, options) => (await call(path, options)).json();

export function send(method, path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  return call(path, { method, body: JSON.stringify(body), headers, signal });
}

async function reach(path, options, bearer) {
  const headers = { ...options.headers };
  if (bearer) headers.Authorization = `Bearer ${bearer}`;
  try {
    return await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerError(t.unreachable);
  }
}

// Calls that are refused at the same time wait at one door. False when the user closes it without a token.
function askForToken(wasRefused) {
  door ??= openDoor(wasRefused).finally(() => { door = null; });
  return door;
}

function openDoor(wasRefused) {
  const dialog = byId("door");
  let given = false;
  byId("door-refused").hidden = !wasRefused;
  return new Promise((resolve) => {
    byId("door-form").onsubmit = () => {
      given = true;
      token = byId("token").value.trim();
      sessionStorage.setItem(TOKEN_KEY, token);
    };
    dialog.onclose = () => {
      byId("token").value = "";
      resolve(given);
    };
    dialog.showModal();
  });
}

export async function* eventsOf(response) {
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
