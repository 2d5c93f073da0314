/**
 * When may a streaming agent say done? One module, no dependency, for browsers and Node.
 *
 * `Progress` is the reducer of one run: envelopes in, facts out, and a status that is derived from
 * the facts and never assigned. `SSEDecoder` turns the bytes of an event stream into events.
 * Both are written by hand from the contract, like their Python counterparts, and share no code
 * with them.
 *
 * JavaScript has one type for numbers, JSON text has two things to say with them: `1` and `1.0`.
 * `feedJson` reads the text itself and tells them apart. `feed` takes an object that somebody has
 * parsed already, so the difference is gone: a whole number there is an integer, however it was
 * written, and one beyond 2^53 - 1 is none, since it is no longer the number that was sent.
 */

export const Kind = Object.freeze({
  TEXT_DELTA: "text.delta",
  MODEL_COMPLETED: "model.completed",
  MODEL_UNRESOLVED: "model.unresolved",
  TOOL_REQUESTED: "tool.requested",
  TOOL_STARTED: "tool.started",
  TOOL_FINISHED: "tool.finished",
  TOOL_FAILED: "tool.failed",
  APPROVAL_WAIT: "approval.wait",
  CANCEL_REQUESTED: "cancel.requested",
  RUN_ENDED: "run.ended",
  APP_CHECKED: "app.checked",
});

export const Issue = Object.freeze({
  BAD_ENVELOPE: "bad_envelope",
  NOT_JSON: "not_json",
  ID_CONFLICT: "id_conflict",
  SEQUENCE_GAP_OR_REORDER: "sequence_gap_or_reorder",
  EVENT_AFTER_TRANSPORT_CLOSE: "event_after_transport_close",
  EVENT_AFTER_TERMINAL: "event_after_terminal",
  UNKNOWN_EVENT: "unknown_event",
  BAD_PAYLOAD_OR_TRANSITION: "bad_payload_or_transition",
});

/** The label of each status, for people: language, then status. */
export const LABELS = Object.freeze({
  zh: Object.freeze({
    running: "正在处理，尚未完成",
    waiting: "等待批准，任务尚未完成",
    cancelling: "已请求取消，正在等待结束确认",
    cancelled: "已取消；已发生的工具效果需另行核对",
    failed: "运行失败，任务未完成",
    incomplete: "响应未完整生成，任务未完成",
    unknown: "完成证据不足，请核对运行结果",
    checking: "运行已结束，等待应用验收",
    rejected: "运行已结束，应用验收未通过",
    done: "已完成：运行结束且本地验收通过",
  }),
  en: Object.freeze({
    running: "In progress, not finished",
    waiting: "Waiting for approval, the task is not finished",
    cancelling: "Cancel requested, waiting for confirmation of the end",
    cancelled: "Cancelled; check tool effects that already happened",
    failed: "The run failed, the task is not finished",
    incomplete: "The response is incomplete, the task is not finished",
    unknown: "Not enough evidence of completion, check the result of the run",
    checking: "The run ended, waiting for the application's check",
    rejected: "The run ended, the application's check did not pass",
    done: "Done: the run ended and the local check passed",
  }),
});

/** Why a value has no strict JSON form. Never leaves this module. */
class NotJsonError extends Error {}

// ---------------------------------------------------------------------------------- the reducer

const ENVELOPE_KEYS = ["run", "id", "seq", "kind", "data"];
const OUTCOMES = new Set(["succeeded", "paused", "cancelled", "failed", "incomplete"]);
const SETTLED = new Set(["returned", "failed"]);

const isText = (value) => typeof value === "string";
const isName = (value) => typeof value === "string" && value !== "";
const isTextOrNull = (value) => value === null || isText(value);
const isNameOrNull = (value) => value === null || isName(value);
const isOutcome = (value) => OUTCOMES.has(value);
const isFlag = (value) => typeof value === "boolean";

/** The payload of each kind (contract, section 2): exactly these keys, each of this form. */
const PAYLOADS = new Map([
  [Kind.TEXT_DELTA, [["text", isText]]],
  [Kind.MODEL_COMPLETED, [["response_id", isName]]],
  [Kind.MODEL_UNRESOLVED, [["response_id", isNameOrNull], ["reason", isText]]],
  [Kind.TOOL_REQUESTED, [["call_id", isName]]],
  [Kind.TOOL_STARTED, [["call_id", isName]]],
  [Kind.TOOL_FINISHED, [["call_id", isName]]],
  [Kind.TOOL_FAILED, [["call_id", isName]]],
  [Kind.APPROVAL_WAIT, []],
  [Kind.CANCEL_REQUESTED, []],
  [Kind.RUN_ENDED, [["outcome", isOutcome], ["final_text", isTextOrNull]]],
  [Kind.APP_CHECKED, [["digest", isText], ["ok", isFlag]]],
]);

/** What a tool event does to its call: from which states, to which. */
const CALL_MOVES = new Map([
  [Kind.TOOL_REQUESTED, [new Set([undefined]), "requested"]],
  [Kind.TOOL_STARTED, [new Set(["requested"]), "running"]],
  [Kind.TOOL_FINISHED, [new Set(["requested", "running"]), "returned"]],
  [Kind.TOOL_FAILED, [new Set(["requested", "running"]), "failed"]],
]);

/**
 * What is known about one run. Neither `feed`, `feedJson` nor `closeTransport` ever throws,
 * whatever it is given; everything else is there to read.
 */
export class Progress {
  #run;
  #labels;
  // Evidence.
  #issues = [];
  #remembered = new Map(); // id -> content, as it was when it was fed
  #lastSeq = 0;
  #foreign = 0;
  #duplicates = 0;
  #closed = false;
  // Activity.
  #text = "";
  #calls = new Map();
  #responses = [];
  #unresolved = false;
  #recovered = false;
  #waiting = false;
  #cancelRequested = false;
  // Terminal and verdict.
  #terminal = null;
  #finalText = null;
  #verdict = null;

  constructor(run, { language = "zh" } = {}) {
    if (!isText(run)) throw new TypeError(`run: expected a string, got ${typeof run}`);
    if (run === "") throw new RangeError("run: expected the id of a run, got an empty string");
    if (!isWellFormed(run)) throw new RangeError("run: half a surrogate pair cannot be written as UTF-8");
    if (!Object.hasOwn(LABELS, language)) {
      throw new RangeError(`language: expected one of ${Object.keys(LABELS).join(", ")}, got ${String(language)}`);
    }
    this.#run = run;
    this.#labels = LABELS[language];
  }

  /** Take one envelope, as an object (contract, section 3, steps 1 to 8). */
  feed(event) {
    let envelope = null;
    try {
      envelope = readEnvelope(event);
    } catch {
      // A getter or a proxy threw: whatever this is, it is no envelope.
    }
    this.#take(envelope);
  }

  /** Take one envelope, as JSON: text, or its bytes in UTF-8. */
  feedJson(json) {
    let envelope = null;
    try {
      envelope = readEnvelope(readJson(typeof json === "string" ? json : decodeUtf8(json)));
    } catch {
      // Not UTF-8, or not one JSON value.
    }
    this.#take(envelope);
  }

  /** Record the end of the connection, and nothing else; again has no effect. */
  closeTransport() {
    this.#closed = true;
  }

  #take(envelope) {
    if (envelope === null) return this.#refuse(Issue.BAD_ENVELOPE);
    const { run, id, seq, kind, data } = envelope;
    if (run !== this.#run) {
      this.#foreign += 1;
      return;
    }
    let content;
    try {
      if (!isWellFormed(id)) throw new NotJsonError("the id cannot be written as UTF-8");
      content = brief(leafOf(seq) + leafOf(kind) + contentOf(data));
    } catch {
      return this.#refuse(Issue.NOT_JSON);
    }
    const before = this.#remembered.get(id);
    if (before !== undefined) {
      if (before === content) this.#duplicates += 1;
      else this.#refuse(Issue.ID_CONFLICT);
      return;
    }
    this.#remembered.set(id, content);
    if (!follows(seq, this.#lastSeq)) this.#refuse(Issue.SEQUENCE_GAP_OR_REORDER);
    if (seq > this.#lastSeq) this.#lastSeq = seq;
    if (this.#closed) this.#refuse(Issue.EVENT_AFTER_TRANSPORT_CLOSE);
    else if (this.#terminal !== null && kind !== Kind.APP_CHECKED) this.#refuse(Issue.EVENT_AFTER_TERMINAL);
    else if (!PAYLOADS.has(kind)) this.#refuse(Issue.UNKNOWN_EVENT);
    else if (!fits(data, PAYLOADS.get(kind)) || !this.#apply(kind, data)) {
      this.#refuse(Issue.BAD_PAYLOAD_OR_TRANSITION);
    }
  }

  #refuse(issue) {
    if (!this.#issues.includes(issue)) this.#issues.push(issue);
  }

  /** Apply a good payload; false, and no effect, if its transition is refused. */
  #apply(kind, data) {
    switch (kind) {
      case Kind.TEXT_DELTA:
        this.#text += data.text;
        return true;
      case Kind.MODEL_COMPLETED:
        this.#responses.push(data.response_id);
        this.#recovered = this.#unresolved;
        return true;
      case Kind.MODEL_UNRESOLVED:
        this.#unresolved = true;
        this.#recovered = false;
        return true;
      case Kind.APPROVAL_WAIT:
        this.#waiting = true;
        return true;
      case Kind.CANCEL_REQUESTED:
        this.#cancelRequested = true;
        return true;
      case Kind.RUN_ENDED:
        return this.#end(data.outcome, data.final_text);
      case Kind.APP_CHECKED:
        return this.#check(data.digest, data.ok);
      default: {
        const [from, to] = CALL_MOVES.get(kind);
        if (!from.has(this.#calls.get(data.call_id))) return false;
        this.#calls.set(data.call_id, to);
        return true;
      }
    }
  }

  #end(outcome, finalText) {
    if (outcome === "succeeded") {
      if (this.#waiting || this.#cancelRequested || finalText === null) return false;
      if (this.#unresolved && !this.#recovered) return false;
      for (const state of this.#calls.values()) if (!SETTLED.has(state)) return false;
    }
    this.#terminal = outcome;
    this.#finalText = finalText;
    this.#waiting = outcome === "paused";
    return true;
  }

  #check(digest, ok) {
    if (this.#terminal !== "succeeded" || this.#verdict !== null) return false;
    if (digest !== sha256(this.#finalText)) return false;
    this.#verdict = ok;
    return true;
  }

  /** What to show: the first line of the contract's table that holds. */
  get status() {
    if (this.#issues.length > 0) return "unknown";
    const terminal = this.#terminal;
    if (terminal === "cancelled" || terminal === "failed" || terminal === "incomplete") return terminal;
    if (terminal === null && this.#unresolved) return "unknown";
    if (this.#waiting) return "waiting";
    if (terminal !== null) return this.#verdict === null ? "checking" : this.#verdict ? "done" : "rejected";
    if (this.#closed) return "unknown";
    return this.#cancelRequested ? "cancelling" : "running";
  }

  get run() { return this.#run; }
  get message() { return this.#labels[this.status]; }
  get issues() { return [...this.#issues]; }
  get text() { return this.#text; }
  get tools() { return new Map(this.#calls); }
  get modelResponses() { return [...this.#responses]; }
  get unresolved() { return this.#unresolved; }
  get recovered() { return this.#recovered; }
  get foreign() { return this.#foreign; }
  get duplicates() { return this.#duplicates; }
  get waiting() { return this.#waiting; }
  get cancelRequested() { return this.#cancelRequested; }
  get terminal() { return this.#terminal; }
  get finalText() { return this.#finalText; }
  get verdict() { return this.#verdict; }
  get closed() { return this.#closed; }
  get lastSeq() { return this.#lastSeq; }

  /** All of it at once, under the contract's names. */
  snapshot() {
    return {
      run: this.#run,
      status: this.status,
      message: this.message,
      issues: this.issues,
      text: this.#text,
      tools: Object.fromEntries(this.#calls),
      model_responses: this.modelResponses,
      unresolved: this.#unresolved,
      recovered: this.#recovered,
      foreign: this.#foreign,
      duplicates: this.#duplicates,
      waiting: this.#waiting,
      cancel_requested: this.#cancelRequested,
      terminal: this.#terminal,
      final_text: this.#finalText,
      verdict: this.#verdict,
      closed: this.#closed,
      last_seq: this.#lastSeq,
    };
  }
}

/** The envelope that an object is, each member read exactly once; null if it is none. */
function readEnvelope(event) {
  if (!isPlainObject(event) || Reflect.ownKeys(event).length !== ENVELOPE_KEYS.length) return null;
  for (const key of ENVELOPE_KEYS) if (!Object.hasOwn(event, key)) return null;
  const { run, id, seq, kind, data } = event;
  if (!isName(run) || !isName(id) || !isName(kind) || !isInteger(seq) || seq < 1) return null;
  return isPlainObject(data) ? { run, id, seq, kind, data: { ...data } } : null;
}

function isPlainObject(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

const isInteger = (value) => Number.isSafeInteger(value) || typeof value === "bigint";

function follows(seq, last) {
  if (typeof seq === "number" && typeof last === "number") return seq === last + 1;
  return BigInt(seq) === BigInt(last) + 1n;
}

/** Whether a payload has exactly the keys of its shape, each of its form. */
function fits(data, shape) {
  if (Object.keys(data).length !== shape.length) return false;
  for (const [key, isGood] of shape) if (!Object.hasOwn(data, key) || !isGood(data[key])) return false;
  return true;
}

// ---------------------------------------------------------------------------- content of an event
//
// The content of a value is a text that is equal exactly when the strict JSON is equal, whatever
// the order of keys. The walk keeps its own stack, so 100,000 levels are no deeper than one; a
// container that is reached twice is read once; and beyond a certain length a digest stands for
// the content, so that what is remembered of an event is small.

const CONTENT_UNITS_MAX = 256;
const DIGITS_MAX = 4300;
const TOO_LARGE = 10n ** BigInt(DIGITS_MAX);
const LONE_SURROGATE = /[\ud800-\udfff]/u;

/** A number that was written with a fraction or an exponent. */
class Float {
  constructor(value) {
    this.value = value;
  }
}

const isWellFormed =
  typeof String.prototype.isWellFormed === "function"
    ? (text) => text.isWellFormed()
    : (text) => !LONE_SURROGATE.test(text);

function brief(content) {
  return content.length <= CONTENT_UNITS_MAX ? content : `#${sha256(content)}`;
}

function contentOf(root) {
  const outer = [];
  const finished = new Map(); // container -> its content; null while it is open
  let frame = opened(root);
  for (;;) {
    const { names, values } = frame;
    let inner = null;
    while (inner === null && frame.next < values.length) {
      const index = frame.next++;
      if (names !== null) frame.content += leafOf(names[index]);
      const value = values[index];
      const known = leafOf(value) ?? finished.get(value);
      if (known === undefined && value !== root) inner = value;
      else if (known === undefined || known === null) throw new NotJsonError("a cycle");
      else frame.content += known;
    }
    if (inner === null) {
      const content = brief(frame.content + (names === null ? "]" : "}"));
      if (outer.length === 0) return content;
      finished.set(frame.container, content);
      frame = outer.pop();
      frame.content += content;
    } else {
      finished.set(inner, null);
      outer.push(frame);
      frame = opened(inner);
    }
  }
}

function opened(container) {
  if (Array.isArray(container)) {
    return { container, names: null, values: Array.from(container), next: 0, content: "[" };
  }
  if (!isPlainObject(container)) throw new NotJsonError("a type that JSON does not have");
  const names = Reflect.ownKeys(container);
  if (!names.every(isText)) throw new NotJsonError("a key that is not text");
  if (names.length > 1) names.sort();
  const values = names.map((name) => container[name]);
  return { container, names, values, next: 0, content: "{" };
}

/** The content of a scalar; undefined for what may be a container. */
function leafOf(value) {
  switch (typeof value) {
    case "string":
      if (!isWellFormed(value)) throw new NotJsonError("text that cannot be written as UTF-8");
      return `s${value.length}:${value}`;
    case "number":
      if (!Number.isFinite(value)) throw new NotJsonError("NaN or an infinity");
      return Number.isSafeInteger(value) ? `i${value};` : `d${value};`;
    case "boolean":
      return value ? "t" : "f";
    case "bigint":
      if (value >= TOO_LARGE || value <= -TOO_LARGE) throw new NotJsonError("an integer of too many digits");
      return `i${value};`;
    case "object":
      if (value === null) return "n";
      if (!(value instanceof Float)) return undefined;
      if (!Number.isFinite(value.value)) throw new NotJsonError("a number beyond the range");
      return Object.is(value.value, -0) ? "d-0;" : `d${value.value};`;
    default:
      throw new NotJsonError("a type that JSON does not have");
  }
}

// ------------------------------------------------------------------------------------ JSON text
//
// One JSON value (RFC 8259). The engine's own parser is fast, but it makes the same value of 1 and
// 1.0, rounds what is beyond its range, and may refuse deep nesting. Where the text may hold such
// a number, or the engine declines, it is read here, without recursion.

const DELICATE_NUMBER = /[:,[\s]-?(?:[0-9]{16}|[0-9]+[.eE])/;

function readJson(text) {
  if (!DELICATE_NUMBER.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      // Not JSON, or too deep for the engine: the slow way knows.
    }
  }
  return parseJson(text);
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const WORDS = new Map([["t", ["true", true]], ["f", ["false", false]], ["n", ["null", null]]]);

function parseJson(text) {
  let place = 0;

  function fail(expected) {
    throw new SyntaxError(`expected ${expected} at character ${place}`);
  }
  function skip() {
    for (;;) {
      const unit = text.charCodeAt(place);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
      place += 1;
    }
  }
  function string() {
    const start = place;
    if (text[start] !== '"') fail("a string");
    let escaped = false;
    for (;;) {
      place += 1;
      const unit = text.charCodeAt(place);
      if (unit === 0x22) break;
      if (unit === 0x5c) {
        escaped = true;
        place += 1;
      } else if (!(unit >= 0x20)) fail("the rest of a string");
    }
    place += 1;
    return escaped ? JSON.parse(text.slice(start, place)) : text.slice(start + 1, place - 1);
  }
  function scalar() {
    const head = text[place];
    if (head === '"') return string();
    const word = WORDS.get(head);
    if (word !== undefined) {
      if (!text.startsWith(word[0], place)) fail("a JSON value");
      place += word[0].length;
      return word[1];
    }
    NUMBER.lastIndex = place;
    const number = NUMBER.exec(text);
    if (number === null) fail("a JSON value");
    place = NUMBER.lastIndex;
    if (number[1] !== undefined || number[2] !== undefined) return new Float(Number(number[0]));
    return integerOf(number[0]);
  }
  function name(names) {
    names.push(string());
    skip();
    if (text[place] !== ":") fail("a colon");
    place += 1;
    skip();
  }

  const open = []; // the containers that the value being read is in
  const names = []; // the names of the members being read, outermost first
  let value;
  skip();
  for (;;) {
    // A value starts here.
    const head = text[place];
    if (head === "{" || head === "[") {
      const close = head === "{" ? "}" : "]";
      const container = head === "{" ? {} : [];
      place += 1;
      skip();
      if (text[place] !== close) {
        open.push(container);
        if (head === "{") name(names);
        continue;
      }
      place += 1;
      value = container;
    } else {
      value = scalar();
    }
    // It ended here: put it in its place, and close what closes.
    for (;;) {
      skip();
      if (open.length === 0) {
        if (place !== text.length) fail("the end");
        return value;
      }
      const inside = open[open.length - 1];
      const isArray = Array.isArray(inside);
      if (isArray) inside.push(value);
      else addMember(inside, names.pop(), value);
      const next = text[place];
      if (next === ",") {
        place += 1;
        skip();
        if (!isArray) name(names);
        break;
      }
      if (next !== (isArray ? "]" : "}")) fail("a comma or a closing bracket");
      place += 1;
      value = open.pop();
    }
  }
}

/** Add a member as JSON means it: `__proto__` is a name like any other. */
function addMember(object, name, value) {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

/** Exact whatever its size; beyond the digits that count, some integer of as many. */
function integerOf(literal) {
  if (literal.length <= 15) return Number(literal);
  if (literal.length > DIGITS_MAX + 1) return literal[0] === "-" ? -TOO_LARGE : TOO_LARGE;
  const exact = BigInt(literal);
  const rounded = Number(exact);
  return Number.isSafeInteger(rounded) ? rounded : exact;
}

function decodeUtf8(bytes) {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

// ------------------------------------------------------------------------ producer and acceptance

/** Emits the envelopes of one run; the id follows from run and number. */
export class Producer {
  #run;
  #seq = 0;

  constructor(run) {
    if (!isName(run)) throw new TypeError("run: expected a non-empty string");
    this.#run = run;
  }

  get run() { return this.#run; }
  get lastSeq() { return this.#seq; }

  /** The next envelope of the run. */
  emit(kind, data = {}) {
    if (!isName(kind)) throw new TypeError("kind: expected a non-empty string");
    this.#seq += 1;
    return { run: this.#run, id: `${this.#run}:${this.#seq}`, seq: this.#seq, kind, data };
  }

  /** The owner's conclusion after the iterator ended (contract, section 4); null if there is none. */
  ownerFinished({ exhausted, isComplete, interruptions, cancelRequested, runtimeFailed, finalText }) {
    const pending = Array.isArray(interruptions) ? interruptions.length > 0 : Boolean(interruptions);
    if (runtimeFailed) return this.#ended("failed");
    if (!(exhausted && isComplete)) return null;
    if (cancelRequested) return this.#ended("cancelled");
    if (pending) return this.#ended("paused");
    return isText(finalText) ? this.#ended("succeeded", finalText) : null;
  }

  #ended(outcome, finalText = null) {
    return this.emit(Kind.RUN_ENDED, { outcome, final_text: finalText });
  }
}

/** The one text that the built-in example accepts. */
export const EXAMPLE = "合成巡检：已检查 2 项";

/** Judge a succeeded run: accepted is exactly the text `expected`. */
export function acceptance(progress, expected = EXAMPLE) {
  if (progress.terminal !== "succeeded") {
    throw new Error(
      `run ${progress.run} has no success to judge (terminal: ${progress.terminal}, status: ` +
        `${progress.status}); ask after run.ended/succeeded was accepted`,
    );
  }
  return { digest: sha256(progress.finalText), ok: progress.finalText === expected };
}

// -------------------------------------------------------------------------------------- SHA-256
//
// FIPS 180-4. Written out because the browser's own is asynchronous, and a reducer is not.

// The fractional parts of the cube roots of the first 64 primes, 32 bits of each.
const ROUND_CONSTANTS = Uint32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
);
const BLOCK_BYTES = 64;

/** The lower-case hex SHA-256 of the UTF-8 bytes of a text. */
export function sha256(text) {
  const bytes = new TextEncoder().encode(text);
  // The square roots of the first 8 primes, likewise.
  const state = Uint32Array.of(
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
  );
  const words = new Uint32Array(64);
  const whole = bytes.length - (bytes.length % BLOCK_BYTES);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let start = 0; start < whole; start += BLOCK_BYTES) compress(state, words, view, start);
  // The rest, a one bit, zeros, and the length in bits as 64 bits: one block or two.
  const rest = bytes.length - whole;
  const last = new Uint8Array(rest + 9 > BLOCK_BYTES ? 2 * BLOCK_BYTES : BLOCK_BYTES);
  last.set(bytes.subarray(whole));
  last[rest] = 0x80;
  const lastView = new DataView(last.buffer);
  lastView.setUint32(last.length - 8, Math.floor(bytes.length / 0x20000000));
  lastView.setUint32(last.length - 4, (bytes.length * 8) >>> 0);
  for (let start = 0; start < last.length; start += BLOCK_BYTES) compress(state, words, lastView, start);
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

function compress(state, words, view, start) {
  for (let i = 0; i < 16; i += 1) words[i] = view.getUint32(start + 4 * i);
  for (let i = 16; i < 64; i += 1) {
    const early = words[i - 15];
    const late = words[i - 2];
    const sigma0 = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
    const sigma1 = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
    words[i] = words[i - 16] + sigma0 + words[i - 7] + sigma1;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i += 1) {
    const sum1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const chosen = (e & f) ^ (~e & g);
    const first = (h + sum1 + chosen + ROUND_CONSTANTS[i] + words[i]) | 0;
    const sum0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + sum0 + majority) | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

function rotated(word, bits) {
  return (word >>> bits) | (word << (32 - bits));
}

// -------------------------------------------------------------------------------- the SSE decoder

/** Why a stream cannot be decoded any further; `offset` counts bytes from its start. */
export class SSEError extends Error {
  constructor(code, message, offset = null) {
    super(message);
    this.name = "SSEError";
    this.code = code;
    this.offset = offset;
  }
}

const MEBI = 2 ** 20;
const MORE_TO_COME = { stream: true };
const NO_BYTES = new Uint8Array(0);
const DATA = "data: "; // how nearly every line begins
const LF = 10;

/**
 * Bytes of an event stream in, in any chunks; events out, each with the byte that ends its blank
 * line (contract, section 5, and the event stream rules of the HTML standard).
 *
 * `errors: "strict"` takes invalid UTF-8 as an error, `"replace"` does as browsers do. With
 * `comments` the comment lines are handed out too, in their place. `lastEventId` is the id in
 * force at the start, where a stream is resumed. The limits count UTF-16 units, what a JavaScript
 * string is made of.
 *
 * An error does not take earlier events with it: they are returned, and the error is thrown by the
 * next call, and by every later one.
 */
export class SSEDecoder {
  #strict;
  #comments;
  #lineUnitsMax;
  #eventUnitsMax;
  #idUnitsMax;
  #retryDigitsMax;
  #decoder;
  #started = false; // whether any text came, so that a byte order mark is no longer dropped
  #afterCR = false; // whether a LF would belong to the CR before it
  #line = "";
  #data = null; // of the event so far, its lines joined with LF; null before the first
  #type = "";
  #id; // what the next blank line puts in force
  #lastEventId;
  #retryMs = null;
  #bytes = 0; // handed to the UTF-8 decoder so far
  #carry = NO_BYTES; // the bytes of a character that is not yet whole
  #failure = null;

  constructor({
    errors = "strict",
    comments = false,
    lastEventId = "",
    lineUnitsMax = 64 * MEBI,
    eventUnitsMax = 128 * MEBI,
    idUnitsMax = MEBI / 4,
    retryDigitsMax = 19,
  } = {}) {
    if (errors !== "strict" && errors !== "replace") {
      throw new RangeError(`errors: expected strict or replace, got ${String(errors)}`);
    }
    for (const [name, value] of Object.entries({ lineUnitsMax, eventUnitsMax, idUnitsMax, retryDigitsMax })) {
      if (!(value >= 1)) throw new RangeError(`${name}: expected a number of at least 1, got ${String(value)}`);
    }
    this.#strict = errors === "strict";
    this.#comments = comments;
    this.#lineUnitsMax = lineUnitsMax;
    this.#eventUnitsMax = eventUnitsMax;
    this.#idUnitsMax = idUnitsMax;
    this.#retryDigitsMax = retryDigitsMax;
    this.#id = this.#lastEventId = lastEventId;
    this.#decoder = new TextDecoder("utf-8", { fatal: this.#strict, ignoreBOM: true });
  }

  /** The id that the last blank line put in force: the one to resume from. */
  get lastEventId() { return this.#lastEventId; }

  /** The last valid reconnection time, in milliseconds; null before the first. */
  get retryMs() { return this.#retryMs; }

  /** The events that these bytes complete. */
  feed(chunk) {
    const bytes = bytesOf(chunk);
    if (this.#failure !== null) throw this.#failure;
    const events = [];
    try {
      this.#takeText(this.#decode(bytes, events), events);
    } catch (error) {
      this.#failure = error;
      if (events.length === 0) throw error;
    }
    return events;
  }

  /** The end of the stream. An unfinished event is never dispatched, so the list is empty. */
  finish() {
    if (this.#failure?.code === "finished") return [];
    if (this.#failure !== null) throw this.#failure;
    if (this.#carry.length > 0) {
      this.#failure = invalidUtf8(this.#bytes - this.#carry.length);
      throw this.#failure;
    }
    this.#failure = new SSEError("finished", "fed after the end: a stream ends once; use a new decoder");
    return [];
  }

  #decode(bytes, events) {
    const before = this.#bytes - this.#carry.length;
    try {
      const text = this.#decoder.decode(bytes, MORE_TO_COME);
      if (this.#strict) this.#carry = unfinished(this.#carry, bytes);
      this.#bytes += bytes.length;
      return text;
    } catch {
      // What came before the bad byte still counts.
      const all = joined(this.#carry, bytes);
      const bad = firstIllFormed(all);
      this.#takeText(decodeUtf8(all.subarray(0, bad)), events);
      throw invalidUtf8(before + bad);
    }
  }

  #takeText(chunk, events) {
    if (chunk === "") return;
    let start = 0;
    if (!this.#started) {
      this.#started = true;
      if (chunk.startsWith("\ufeff")) start = 1;
    }
    if (this.#afterCR && start < chunk.length) {
      if (chunk.charCodeAt(start) === LF) start += 1;
      this.#afterCR = false;
    }
    // The next of both, looked for again only where it was passed: a chunk is read once.
    let lf = chunk.indexOf("\n", start);
    let cr = chunk.indexOf("\r", start);
    while (lf !== -1 || cr !== -1) {
      const isCR = cr !== -1 && (lf === -1 || cr < lf);
      const end = isCR ? cr : lf;
      this.#takeLine(chunk, start, end, events);
      start = end + 1;
      if (isCR && start === chunk.length) this.#afterCR = true;
      if (isCR && start === lf) start += 1;
      if (lf !== -1 && lf < start) lf = chunk.indexOf("\n", start);
      if (isCR) cr = chunk.indexOf("\r", start);
    }
    this.#line += start === 0 ? chunk : chunk.slice(start);
    this.#checkLine(this.#line.length);
  }

  /** The line that ends there, and starts there if nothing was kept of it. */
  #takeLine(text, start, end, events) {
    this.#checkLine(this.#line.length + end - start);
    if (this.#line === "" && text.startsWith(DATA, start)) {
      this.#takeData(text.slice(start + DATA.length, end));
      return;
    }
    const line = this.#line + text.slice(start, end);
    this.#line = "";
    if (line === "") this.#blankLine(events);
    else this.#field(line, events);
  }

  #checkLine(units) {
    if (units > this.#lineUnitsMax) throw tooLong("a line", "lineUnitsMax", this.#lineUnitsMax);
  }

  #takeData(value) {
    this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    if (this.#data.length > this.#eventUnitsMax) {
      throw tooLong("the data of an event", "eventUnitsMax", this.#eventUnitsMax);
    }
  }

  #field(line, events) {
    const colon = line.indexOf(":");
    if (colon === 0) {
      if (this.#comments) events.push({ comment: line.slice(1) });
      return;
    }
    const name = colon === -1 ? line : line.slice(0, colon);
    let value = colon === -1 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    switch (name) {
      case "data":
        this.#takeData(value);
        break;
      case "event":
        this.#type = value;
        break;
      case "id":
        if (value.includes("\0")) break;
        if (value.length > this.#idUnitsMax) throw tooLong("an id", "idUnitsMax", this.#idUnitsMax);
        this.#id = value;
        break;
      case "retry":
        if (/^[0-9]+$/.test(value)) {
          const digits = value.replace(/^0+(?=.)/, "");
          if (digits.length <= this.#retryDigitsMax) this.#retryMs = integerOf(digits);
        }
        break;
      default: // any other field is ignored
    }
  }

  #blankLine(events) {
    this.#lastEventId = this.#id;
    if (this.#data !== null) {
      events.push({ event: this.#type || "message", data: this.#data, id: this.#id });
    }
    this.#data = null;
    this.#type = "";
  }
}

function invalidUtf8(offset) {
  const how = 'errors: "replace" reads on, as browsers do';
  return new SSEError("invalid_utf8", `invalid UTF-8 at byte ${offset} of the stream; ${how}`, offset);
}

function tooLong(what, limit, most) {
  const how = "raise the limit if such streams are expected";
  return new SSEError("too_long", `${what} has more than ${most} UTF-16 units (${limit}): ${how}`);
}

function bytesOf(chunk) {
  if (chunk instanceof Uint8Array) return chunk;
  if (ArrayBuffer.isView(chunk)) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
  throw new TypeError(`chunk: expected bytes, got ${typeof chunk}`);
}

function joined(first, second) {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

/** The bytes at the end, three at most, of a character that is not yet whole. */
function unfinished(carry, bytes) {
  const tail = bytes.length >= 3 ? bytes : joined(carry, bytes);
  for (let back = 1; back <= 3 && back <= tail.length; back += 1) {
    const byte = tail[tail.length - back];
    if (byte < 0x80) break;
    if (byte >= 0xc0) return widthOf(byte) > back ? tail.slice(tail.length - back) : NO_BYTES;
  }
  return NO_BYTES;
}

function widthOf(lead) {
  return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/** Where the first ill-formed sequence starts (Unicode, table 3-7); the length if there is none. */
function firstIllFormed(bytes) {
  let place = 0;
  while (place < bytes.length) {
    const lead = bytes[place];
    if (lead >= 0x80) {
      if (lead < 0xc2 || lead > 0xf4) return place;
      const second = bytes[place + 1];
      const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
      const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
      if (!(second >= low && second <= high)) return place;
      for (let next = place + 2; next < place + widthOf(lead); next += 1) {
        if (!(bytes[next] >= 0x80 && bytes[next] <= 0xbf)) return place;
      }
    }
    place += widthOf(lead);
  }
  return place;
}
