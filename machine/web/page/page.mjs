/**
 * The page: one run at a time, from the host's event stream through the project's own reducer.
 *
 * What is shown follows from the reducer's facts. The connection is shown beside it and is no
 * fact: while it is lost the browser asks again from the last event it has, and only when the
 * host says that nothing follows is the end of the stream put on record. Whatever a model or a
 * tool says becomes text nodes, never markup.
 */

import { LABELS, Progress } from "./doneness.mjs";
import { LACKS, REASONS, missing, reason, textOf } from "./evidence.mjs";
import { CALLS, FACTS, MARKS, STATUS_WORDS, WORDS } from "./words.mjs";

const RENDER_MS = 16;
const RUNS_MS = 2000;
const RETRY_MS = 2000;
const ROWS_MAX = 1000;
const OUTPUT_CHARS_MAX = 4000;
const NARROW = matchMedia("(max-width: 48rem)");
const LANGUAGE_KEY = "doneness.language";

const $ = (id) => document.getElementById(id);
let language = chosenLanguage();
let runs = [];
let view = null;
let scheduled = false;

// ------------------------------------------------------------------------------ one run's view

/** All that is known of the run that is shown; another run has a view of its own. */
class View {
  constructor(run) {
    this.run = run;
    this.progress = new Progress(run);
    this.seen = 0; // the last record, by its number in the host's log
    this.link = "connecting";
    this.rows = []; // envelopes: {first, last, kind, detail, status}
    this.calls = new Map(); // call id: {name, args, output}
    this.opening = null;
    this.held = null;
    this.decision = null;
    this.failure = "";
    this.busy = false;
    this.refused = "";
    this.shownChars = 0;
    this.rounds = []; // where each round of the model begins in the text
    this.source = null;
    this.timer = 0;
  }

  open() {
    const source = new EventSource(`/runs/${encodeURIComponent(this.run)}/events?after=${this.seen}`);
    this.source = source;
    const taken = (take) => (event) => {
      if (this.source !== source) return; // late: it was closed, what it says is out of date
      take(event);
      if (event.lastEventId !== "") this.seen = Number(event.lastEventId);
      schedule();
    };
    source.onopen = taken(() => { this.link = "live"; });
    source.onerror = taken(() => this.lost());
    source.onmessage = taken((event) => this.envelope(event.data));
    source.addEventListener("about", taken((event) => this.about(event.data)));
    source.addEventListener("end", taken(() => this.end("ended")));
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }

  end(link) {
    this.close();
    this.link = link;
    this.progress.closeTransport();
    loadRuns();
  }

  /** The browser tries again by itself, unless it was refused. */
  lost() {
    this.link = "lost";
    if (this.source.readyState !== EventSource.CLOSED) return;
    this.close();
    this.timer = setTimeout(async () => {
      const known = await loadRuns();
      if (view !== this) return;
      if (known && !runs.some((each) => each.run === this.run)) this.end("gone");
      else this.open();
      schedule();
    }, RETRY_MS);
  }

  envelope(json) {
    this.progress.feedJson(json);
    let kind = "?", seq = this.progress.lastSeq, detail = "";
    try {
      const read = JSON.parse(json);
      [kind, seq] = [String(read.kind), Number(read.seq)];
      if (kind !== "text.delta") detail = detailOf(read.data);
    } catch {
      // What is no JSON is an issue at the reducer.
    }
    const status = this.progress.status;
    const last = this.rows.at(-1);
    if (last && kind === "text.delta" && last.kind === kind && last.status === status && last.last + 1 === seq) {
      last.last = seq;
    } else {
      this.rows.push({ first: seq, last: seq, kind, detail, status });
      if (this.rows.length > ROWS_MAX) this.rows.shift();
    }
  }

  /** What is known about the run beside its envelopes; no status depends on it. */
  about(json) {
    const told = JSON.parse(json);
    switch (told.type) {
      case "opening":
        this.opening = told;
        break;
      case "iteration_start":
        this.rounds.push(this.progress.text.length);
        break;
      case "tool_start":
        this.calls.set(told.call_id, { name: told.name, args: told.args, output: null });
        break;
      case "tool_result": {
        const call = this.calls.get(told.call_id);
        if (call) call.output = told.output;
        break;
      }
      case "held":
        this.held = told;
        break;
      case "decision":
        this.decision = told;
        break;
      case "error":
        this.failure = told.message;
        break;
      default:
    }
  }
}

function detailOf(data) {
  if (data === null || typeof data !== "object") return "";
  const shown = Object.entries(data).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return `${name}: ${clipped(text, 120)}`;
  });
  return shown.join(", ");
}

function clipped(text, chars) {
  return text.length > chars ? `${text.slice(0, chars)}…` : text;
}

// ------------------------------------------------------------------------------------- showing

function schedule() {
  if (scheduled) return;
  scheduled = true;
  setTimeout(() => {
    scheduled = false;
    show();
  }, RENDER_MS);
}

/** Set a text only if it is another: a live region speaks of what changes. */
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function element(name, text = "", attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function show() {
  const words = WORDS[language];
  document.documentElement.lang = language === "zh" ? "zh-Hans" : "en";
  for (const each of document.querySelectorAll("[data-word]")) say(each, words[each.dataset.word]);
  say($("language"), words.other);
  $("language").lang = language === "zh" ? "en" : "zh-Hans";
  showRuns();
  $("main").hidden = view === null;
  if (view === null) return;
  const { progress } = view;
  const { status } = progress;
  const opening = view.opening ?? {};
  const title = opening.title?.[language] ?? view.run;
  say($("title"), title);
  document.title = `${MARKS[status]} ${STATUS_WORDS[language][status]} · ${title} · doneness`;
  say($("wish"), opening.wish ?? "");
  $("resumes").hidden = !opening.resumes;
  if (opening.resumes) $("before").href = `#${opening.resumes}`;
  say($("mark"), MARKS[status]);
  say($("word"), STATUS_WORDS[language][status]);
  say($("label"), LABELS[language][status]);
  say($("link"), words[view.link]);
  showHeld(words);
  const going = view.source !== null || view.link === "lost";
  $("cancel").hidden = !(going && (status === "running" || status === "cancelling"));
  $("cancel").disabled = view.busy || status !== "running";
  $("again").hidden = !(opening.plan && !going);
  $("again").disabled = view.busy;
  $("refused").hidden = view.refused === "";
  say($("refused"), view.refused);
  showText(progress.text);
  $("failure").hidden = view.failure === "";
  say($("failure"), view.failure);
  showTools(progress.tools);
  if ($("evidence").open) showEvidence(words);
  Object.assign($("main").dataset, { status, run: view.run, seen: String(view.seen), link: view.link });
}

function showHeld(words) {
  $("held").hidden = view.held === null;
  if (view.held === null) return;
  say($("call"), `${view.held.name} ${JSON.stringify(view.held.args)}`);
  const { decision } = view;
  for (const id of ["approve", "reject"]) {
    $(id).hidden = decision !== null;
    $(id).disabled = view.busy;
  }
  say($("decision"), decision === null ? "" : decision.approved ? words.approved : words.refused);
  $("after").hidden = !decision?.run;
  if (decision?.run) $("after").href = `#${decision.run}`;
}

/** Text only grows, so only what is new is added; each round of the model is a paragraph. */
function showText(text) {
  while (view.shownChars < text.length) {
    const begins = view.shownChars === 0 || view.rounds.includes(view.shownChars);
    const paragraph = begins ? $("text").appendChild(element("div", "", { dir: "auto" })) : $("text").lastChild;
    const next = view.rounds.find((round) => round > view.shownChars) ?? text.length;
    paragraph.append(document.createTextNode(text.slice(view.shownChars, next)));
    view.shownChars = next;
  }
}

function showTools(tools) {
  const list = $("tools");
  $("no-tools").hidden = tools.size > 0;
  [...tools].forEach(([callId, state], index) => {
    const call = view.calls.get(callId) ?? { name: callId, args: null, output: null };
    const item = list.children[index] ?? list.appendChild(toolItem());
    const [name, shown, output] = item.children;
    item.dataset.state = state;
    say(name, call.args === null ? call.name : `${call.name} ${JSON.stringify(call.args)}`);
    say(shown, `${CALLS[state].mark} ${CALLS[state][language]}`);
    say(output, call.output === null ? "" : clipped(call.output, OUTPUT_CHARS_MAX));
  });
}

function toolItem() {
  const item = element("li");
  item.append(element("code", "", { dir: "ltr" }), element("span", "", { class: "state" }), element("code", "", { class: "output", dir: "auto" }));
  item.children[0].after(" ");
  return item;
}

function showEvidence(words) {
  const { progress } = view;
  say($("why"), textOf(REASONS, language, reason(progress)));
  const lacks = missing(progress).map((lack) => textOf(LACKS, language, lack));
  fill($("missing"), (lacks.length > 0 ? lacks : [words.nothing]).map((text) => element("li", text)));
  const facts = Object.entries(FACTS).flatMap(([name, label]) => [
    element("dt", label[language]),
    element("dd", factOf(progress[name], words)),
  ]);
  fill($("facts"), facts);
  const rows = view.rows.map(({ first, last, kind, detail, status }) => {
    const row = element("tr", "", { "data-status": status });
    const number = first === last ? String(first) : `${first}–${last}`;
    const event = element("td", detail === "" ? kind : `${kind} (${detail})`, { dir: "auto" });
    const after = element("td");
    after.append(element("span", STATUS_WORDS[language][status], { class: "chip" }));
    row.append(element("td", number), event, after);
    return row;
  });
  fill($("events"), rows);
}

function factOf(value, words) {
  if (value === null) return words.unset;
  if (typeof value === "boolean") return value ? words.yes : words.no;
  if (Array.isArray(value)) return value.length > 0 ? value.join(", ") : words.unset;
  return String(value);
}

/** Replace the children, unless they would look the same: a reader is not thrown out of its place. */
function fill(parent, children) {
  const same = children.length === parent.children.length
    && children.every((child, index) => child.isEqualNode(parent.children[index]));
  if (!same) parent.replaceChildren(...children);
}

function showRuns() {
  const list = $("runs");
  runs.forEach((each, index) => {
    const item = list.children[index] ?? list.appendChild(runItem());
    const [button] = item.children;
    const [name, chip] = button.children;
    const status = view?.run === each.run && view.seen > 0 ? view.progress.status : each.status;
    button.dataset.run = each.run;
    button.dataset.status = status;
    button.setAttribute("aria-current", String(view?.run === each.run));
    say(name, `${each.title?.[language] ?? each.run}${each.resumes ? " ↪" : ""}`);
    say(chip, `${MARKS[status]} ${STATUS_WORDS[language][status]}`);
  });
  while (list.children.length > runs.length) list.lastChild.remove();
}

function runItem() {
  const item = element("li");
  const button = element("button", "", { type: "button" });
  button.append(element("span", "", { class: "name", dir: "auto" }), element("span", "", { class: "chip" }));
  button.addEventListener("click", () => { location.hash = button.dataset.run; });
  item.append(button);
  return item;
}

// -------------------------------------------------------------------------------------- acting

/** Ask the host for the runs; whether it answered. */
async function loadRuns() {
  try {
    const answer = await fetch("/runs", { signal: AbortSignal.timeout(10_000) });
    if (!answer.ok) return false;
    runs = await answer.json();
  } catch {
    return false;
  }
  schedule();
  return true;
}

function select(run) {
  if (view?.run === run) return;
  view?.close();
  view = run === "" ? null : new View(run);
  $("text").replaceChildren();
  $("tools").replaceChildren();
  view?.open();
  show();
}

/** Ask the host to do something; it says on the stream what came of it. */
async function ask(path) {
  const asked = view;
  asked.busy = true;
  asked.refused = "";
  show();
  try {
    const answer = await fetch(path, { method: "POST", signal: AbortSignal.timeout(10_000) });
    const said = await answer.json();
    if (!answer.ok) asked.refused = said.error;
    else if (said.run !== null && view === asked) location.hash = said.run;
  } catch {
    asked.refused = WORDS[language].unreachable;
  }
  asked.busy = false;
  await loadRuns();
  show();
  // A button that was pressed may be gone; whoever uses the keyboard is not sent to the top.
  if (document.activeElement === document.body) $("main").focus({ preventScroll: true });
}

function chosenLanguage() {
  let kept = null;
  try {
    kept = localStorage.getItem(LANGUAGE_KEY);
  } catch {
    // A browser may forbid it; then nothing is kept.
  }
  if (kept === "en" || kept === "zh") return kept;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

$("language").addEventListener("click", () => {
  language = language === "en" ? "zh" : "en";
  try {
    localStorage.setItem(LANGUAGE_KEY, language);
  } catch {
    // As above.
  }
  show();
});
for (const action of ["cancel", "approve", "reject"]) {
  $(action).addEventListener("click", () => ask(`/runs/${encodeURIComponent(view.run)}/${action}`));
}
$("again").addEventListener("click", () => ask(`/plans/${encodeURIComponent(view.opening.plan)}`));
$("evidence").addEventListener("toggle", show);
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  $("main").focus();
});
window.addEventListener("hashchange", () => {
  select(location.hash.slice(1));
  $("main").focus({ preventScroll: true });
  if (NARROW.matches) $("main").scrollIntoView();
});
setInterval(() => {
  if (!document.hidden) loadRuns();
}, RUNS_MS);

show();
await loadRuns();
if (location.hash.length > 1) select(location.hash.slice(1));
else if (runs.length > 0) history.replaceState(null, "", `#${runs[0].run}`), select(runs[0].run);
