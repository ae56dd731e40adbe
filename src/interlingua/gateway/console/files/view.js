// How things are shown. Whatever anybody wrote becomes a text node; there is no way from a text to HTML here.

export const byId = (id) => document.getElementById(id);

export function make(tag, { of, ...given } = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined) made.setAttribute(name, value);
  }
  if (of) made.dataset.of = of;
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

// A name that breaks at its own joints, and in the middle of a word only where that is longer than any column.
const LONGEST_WORD = 22;

export function name(text) {
  const pieces = String(text).split(/(?<=[/\-_.,:@=+])/);
  const shown = pieces.map((piece) => (piece.length > LONGEST_WORD ? make("span", { class: "torn" }, piece) : piece));
  return make("span", {}, ...shown.flatMap((piece, place) => (place ? [make("wbr"), piece] : [piece])));
}

export const CHANGE_KINDS = { dropped: "bad", refused: "bad", approximated: "warn", repaired: "busy" };
export const pill = (text, kind) => make("span", { class: `pill ${kind}` }, text);

export function facts(list, pairs) {
  list.replaceChildren(
    ...pairs
      .filter(([, value]) => value !== "" && value !== null && value !== undefined)
      .flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]),
  );
}

export const count = (value) => (value === undefined || value === null ? "" : value.toLocaleString("en-US"));

export function seconds(value) {
  if (value === undefined || value === null) return "";
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  return value < 100 ? `${value.toFixed(value < 10 ? 2 : 1)} s` : span(value);
}

export function span(value) {
  if (value < 100) return `${Math.ceil(value)} s`;
  if (value < 6000) return `${Math.ceil(value / 60)} min`;
  return value < 172800 ? `${Math.ceil(value / 3600)} h` : `${Math.ceil(value / 86400)} days`;
}

export function dollars(value) {
  if (value === undefined || value === null) return "";
  if (value === 0) return "$0";
  if (value < 0.000001) return "< $0.000001";
  return `$${value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: value < 0.01 ? 6 : value < 1 ? 4 : 2 })}`;
}

// How much of a limit is used, as a bar of its own colour from four fifths on, and in words beside it.
export function meter({ told, used, reserved, allowed, unit }) {
  const words = make("span", {}, told);
  if (used === null || used === undefined) return make("div", { class: "limit" }, words);
  const shown = unit === "usd" ? dollars : count;
  const share = allowed > 0 ? (used + reserved) / allowed : 1;
  const kind = share >= 1 ? "bad" : share >= 0.8 ? "warn" : "";
  const more = reserved ? `, ${shown(reserved)} reserved` : "";
  const bar = make("progress", { class: kind, max: allowed || 1, value: Math.min(used + reserved, allowed || 1), "aria-label": told });
  return make("div", { class: "limit" }, words, make("span", { class: "below" }, `${shown(used)} used${more}`), bar);
}

export const clock = (unix) => new Date(unix * 1000).toLocaleTimeString("en-GB");
export const day = (unix) => new Date(unix * 1000).toISOString().slice(0, 16).replace("T", " ") + " UTC";
export const pretty = (value) => JSON.stringify(value, null, 2);
