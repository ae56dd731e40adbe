// What every driver of a JavaScript client shares: the job, the questions, the checks, a JSON line for each scenario.
// A driver gives an object with a method for each scenario that the client offers. `connect` makes the client by the
// very lines that `il connect` prints.
import { readFileSync, unlinkSync, writeFileSync, writeSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import path from "node:path";

export const ASK = "Which city is warmer? Use get_weather.";
export const PNG_BASE64 =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";
const HELLO = "Hello from the strict upstream.";
const FINAL = "Bergen is warmer.";
const FOLDER = path.dirname(fileURLToPath(import.meta.url));
export const job = JSON.parse(readFileSync(0, "utf8"));
const originals = { ...process.env };
let count = 0;

/** The names that the lines of `il connect` define, for a model. */
export async function connect(model) {
  const code = job.code.replaceAll("{model}", model);
  const names = [...code.matchAll(/^const (\w+) =/gm)].map((match) => match[1]);
  const file = path.join(FOLDER, `lines-${process.pid}-${count++}.mjs`);
  writeFileSync(file, `${code}\nexport { ${names.join(", ")} };\n`);
  try {
    return await import(pathToFileURL(file).href);
  } finally {
    unlinkSync(file);
  }
}

class Unequal extends Error {}

function equal(value, expected) {
  const [a, b] = [JSON.stringify(value), JSON.stringify(expected)];
  if (a !== b) throw new Unequal(`${a} is not ${b}`);
}

function said(text, models) {
  if (!(models.loose && text)) equal(text, HELLO);
}

function weather() {
  const cities = [];
  const call = (city) => {
    cities.push(city);
    return `4 degrees in ${city}`;
  };
  return { cities, call };
}

const loop = (way, kind) => async (driver, models) => {
  const tool = weather();
  const text = await driver[way](models[kind], tool.call);
  if (models.loose) return equal([tool.cities.length > 0, Boolean(text)], [true, true]);
  equal(tool.cities.sort(), ["Bergen", "Oslo"]);
  if (!text.includes(FINAL)) throw new Unequal(`the last text is ${JSON.stringify(text)}`);
};

const scenarios = {
  text: ["text", async (driver, models) => said(await driver.text(models.talk), models)],
  stream: ["stream", async (driver, models) => {
    const pieces = (await driver.stream(models.talk)).filter(Boolean);
    said(pieces.join(""), models);
    if (pieces.length < 2) throw new Unequal("one piece");
  }],
  loop: ["loop", loop("loop", "steps")],
  "streamed loop": ["loopStreamed", loop("loopStreamed", "steps")],
  parallel: ["loop", loop("loop", "pair")],
  structured: ["structured", async (driver, models) => {
    const { city, days } = await driver.structured(models.talk);
    equal([city, Number.isInteger(days)], ["Oslo", true]);
  }],
  image: ["image", async (driver, models) => equal(await driver.image(models.talk), "I see 1 image.")],
  thinking: ["thinking", async (driver, models) => {
    const tool = weather();
    const [thought, text] = await driver.thinking(models.think, tool.call);
    equal(thought, "Let me see.");
    if (!tool.cities.length || !text.includes("4 degrees")) throw new Unequal(`called for ${tool.cities}, said ${text}`);
  }],
  usage: ["usage", async (driver, models) => {
    const counts = await driver.usage(models.talk);
    if (models.loose) equal(counts.some((count) => count > 0), true);
    else equal(counts, [20, 10]);
  }],
  errors: ["fail", async (driver, models, kinds) => {
    const raised = {};
    for (const kind of kinds) raised[kind] = await error(driver, models, kind);
    equal(raised, Object.fromEntries(kinds.map((kind) => [kind, job.errors[kind]])));
  }],
  broken: ["stream", async (driver, models) => {
    let pieces;
    try {
      pieces = await driver.stream(models.broken);
    } catch {
      return;
    }
    throw new Unequal(`nothing was raised; the text is ${JSON.stringify(pieces.join(""))}`);
  }],
};

async function error(driver, models, kind) {
  if (kind === "key") Object.assign(process.env, job.wrong_key);
  try {
    await driver.fail(models[kind === "key" ? "talk" : kind]);
  } catch (error) {
    return named(error);
  } finally {
    Object.assign(process.env, originals);
  }
  return "nothing was raised";
}

function named(error) {
  const status = [error.status, error.statusCode, error.status_code, error.lastError?.statusCode].find(Number.isInteger);
  const name = error.lastError ? error.lastError.name : error.constructor.name;
  return status ? `${name} ${status}` : name;
}

/** Run the job and print a line for each scenario. */
export async function main(driver) {
  for (const [upstream, task] of Object.entries(job.upstreams)) {
    for (const scenario of task.scenarios) {
      const [method, check] = scenarios[scenario];
      let outcome = { state: "ok", seen: "" };
      if (!driver[method]) outcome = { state: "absent", seen: "" };
      else {
        try {
          await check(driver, { ...task.models, loose: task.loose }, task.errors);
        } catch (error) {
          if (job.trace) console.error(error);
          const seen = error instanceof Unequal ? error.message : `${named(error)}: ${error.message}`;
          outcome = { state: "failed", seen: seen.replace(/\s+/g, " ").slice(0, 400) };
        }
      }
      writeSync(1, `${JSON.stringify({ upstream, scenario, ...outcome })}\n`);
    }
  }
  process.exit(0);
}
