// How the page asks its gateway. The key is kept for this tab alone and sent as a header; nothing else goes anywhere.

const KEPT = "interlingua-key";

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export const keptKey = () => sessionStorage.getItem(KEPT) ?? "";

export function keepKey(text) {
  if (text) sessionStorage.setItem(KEPT, text);
  else sessionStorage.removeItem(KEPT);
}

export async function ask(path, { body, headers = {}, signal } = {}) {
  const sent = { ...headers, "x-interlingua-console": "1" };
  if (keptKey()) sent["x-api-key"] = keptKey();
  if (body !== undefined) sent["content-type"] = "application/json";
  const response = await fetch(path, {
    method: body === undefined ? "GET" : "POST",
    body: body === undefined ? undefined : JSON.stringify(body),
    headers: sent,
    signal,
    credentials: "omit",
    cache: "no-store",
    redirect: "error",
  });
  if (!response.ok) throw new Refused(response.status, await sentenceOf(response));
  return response;
}

export const json = async (path, options) => (await ask(path, options)).json();

async function sentenceOf(response) {
  const text = await response.text();
  try {
    const told = JSON.parse(text);
    const sentence = told.error?.message ?? told.message ?? told.error;
    return typeof sentence === "string" ? sentence : text;
  } catch {
    return text || `status ${response.status}`;
  }
}

// The server-sent events of a response: {event, data}, as they come.
export async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const frames = (rest + value).split(/\r?\n\r?\n/);
      rest = frames.pop();
      for (const frame of frames) {
        const found = read(frame);
        if (found.data) yield found;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function read(frame) {
  const found = { event: "message", data: "" };
  for (const line of frame.split(/\r?\n/)) {
    if (line.startsWith("event:")) found.event = line.slice(6).trim();
    else if (line.startsWith("data:")) found.data += line.slice(5).replace(/^ /, "") + "\n";
  }
  found.data = found.data.trimEnd();
  return found;
}
