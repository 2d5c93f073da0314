// The JavaScript reducer on the project's cases, and on what only JavaScript can be given.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import test from "node:test";

import { acceptance, EXAMPLE, Issue, Kind, LABELS, Producer, Progress, sha256 } from "../../machine/javascript/doneness.mjs";

const fixture = (path) => JSON.parse(readFileSync(new URL(`../../fixtures/${path}`, import.meta.url), "utf-8"));

const FED = {
  objects: (progress, event) => progress.feed(event),
  text: (progress, event) => progress.feedJson(JSON.stringify(event)),
  bytes: (progress, event) => progress.feedJson(new TextEncoder().encode(JSON.stringify(event))),
};

for (const file of ["progress/cases.json", "field/streams.json"]) {
  for (const [how, feed] of Object.entries(FED)) {
    for (const kept of fixture(file)) {
      test(`${file} ${kept.name}, fed with ${how}`, () => {
        const progress = new Progress(kept.run);
        const shown = [];
        for (const event of kept.events) {
          if (event === null) progress.closeTransport();
          else feed(progress, event);
          shown.push(progress.status);
        }
        assert.deepEqual(shown, kept.expected_steps);
        progress.closeTransport();
        assert.equal(progress.status, kept.expected_final);
        const all = progress.snapshot();
        for (const [field, expected] of Object.entries(kept.assertions)) assert.deepEqual(all[field], expected);
      });
    }
  }
}

test("the labels are those of the data file, and each status has one in both languages", () => {
  assert.deepEqual({ ...LABELS.zh }, fixture("progress/labels.zh.json"));
  assert.deepEqual(Object.keys(LABELS.en).sort(), Object.keys(LABELS.zh).sort());
  assert.equal(new Progress("a").message, LABELS.zh.running);
  assert.equal(new Progress("a", { language: "en" }).message, LABELS.en.running);
});

test("SHA-256 agrees with Node's own at every length around a block", () => {
  for (let length = 0; length <= 200; length += 1) {
    const text = "a".repeat(length);
    assert.equal(sha256(text), createHash("sha256").update(text).digest("hex"));
  }
  const mixed = "合成\u{1f642}é".repeat(10_000);
  assert.equal(sha256(mixed), createHash("sha256").update(mixed).digest("hex"));
});

const line = (data, { id = "x", seq = "1", kind = "future.kind" } = {}) =>
  `{"run":"a","id":${JSON.stringify(id)},"seq":${seq},"kind":"${kind}","data":${data}}`;

function fedWith(...lines) {
  const progress = new Progress("a");
  for (const each of lines) progress.feedJson(each);
  return progress;
}

test("1, 1.0, 1e0 and true: the text tells an integer, a float and a boolean apart", () => {
  const values = ["1", "1.0", "true", '"1"', "null", "[1]", '{"1":1}', "-1", "10", "0.1", "9007199254740993", "9007199254740992"];
  for (const first of values) {
    for (const second of values) {
      const progress = fedWith(line(`{"v":${first}}`), line(`{"v":${second}}`));
      const same = first === second;
      assert.equal(progress.duplicates, same ? 1 : 0, `${first} then ${second}`);
      assert.equal(progress.issues.includes(Issue.ID_CONFLICT), !same, `${first} then ${second}`);
    }
  }
  for (const same of [["1.0", "1e0"], ["1.50", "15E-1"], ["-0", "0"], ["1e22", "10000000000000000000000.0"]]) {
    assert.equal(fedWith(line(`{"v":${same[0]}}`), line(`{"v":${same[1]}}`)).duplicates, 1, String(same));
  }
  assert.equal(fedWith(line('{"v":-0.0}'), line('{"v":0.0}')).duplicates, 0);
});

test("a seq is an integer of any size; a float, a boolean or a text is none", () => {
  const deltas = (seq) => fedWith(line('{"text":"x"}', { kind: Kind.TEXT_DELTA, seq }));
  for (const seq of ["1.0", "1e0", "true", '"1"', "0", "-1", "null"]) {
    assert.deepEqual(deltas(seq).issues, [Issue.BAD_ENVELOPE], seq);
  }
  assert.equal(deltas("12345678901234567890").lastSeq, 12345678901234567890n);
  const near = fedWith(
    line('{"text":"x"}', { kind: Kind.TEXT_DELTA, seq: "9007199254740991", id: "1" }),
    line('{"text":"y"}', { kind: Kind.TEXT_DELTA, seq: "9007199254740992", id: "2" }),
    line('{"text":"z"}', { kind: Kind.TEXT_DELTA, seq: "9007199254740993", id: "3" }),
  );
  assert.deepEqual([near.issues, near.text, near.lastSeq], [["sequence_gap_or_reorder"], "xyz", 9007199254740993n]);
  assert.deepEqual(deltas("1".repeat(4301)).issues, [Issue.NOT_JSON]);
  assert.deepEqual(deltas("1".repeat(4300)).issues, [Issue.SEQUENCE_GAP_OR_REORDER]);
});

test("integers of more than 4,300 digits, numbers out of range and lone surrogates are not JSON here", () => {
  for (const value of ["1".repeat(4301), `-${"1".repeat(4301)}`, "1".repeat(100_000), "1e999", "-1e999", '"\\ud800"', '"\\udfff\\ud800"']) {
    assert.deepEqual(fedWith(line(`{"v":[${value}]}`)).issues, [Issue.NOT_JSON], value.slice(0, 20));
  }
  for (const value of ["1".repeat(4300), `-${"1".repeat(4300)}`, "1e308", '"\\ud83d\\ude42"']) {
    assert.deepEqual(fedWith(line(`{"v":[${value}]}`)).issues, [Issue.UNKNOWN_EVENT], value.slice(0, 20));
  }
  assert.deepEqual(fedWith(line('{"\\ud800":1}')).issues, [Issue.NOT_JSON]);
  assert.deepEqual(fedWith(line("{}", { id: "\ud800" })).issues, [Issue.NOT_JSON]);
  assert.deepEqual(fedWith(line("{}", { kind: "\\ud800" })).issues, [Issue.NOT_JSON]);
});

test("what is not one JSON value in UTF-8 is a bad envelope", () => {
  const good = line("{}");
  const texts = ["", " ", "{", good.slice(0, -1), `${good}x`, `${good}${good}`, good.replace(/"/g, "'"), "\ufeff" + good,
    line("{,}"), line('{"a":1,}'), line('{"a":01}'), line('{"a":+1}'), line('{"a":.5}'), line('{"a":1.}'), line('{"a":NaN}'),
    line('{"a":"\u0001"}'), line('{"a":"\\x"}'), line('{"a":[1,]}'), line('{"a":[1}]}'), line('{"a":tru}'), line('{"a":1e}'),
    line('{"a":1.0,}'), line('{"a":[1.0}'), line('{a:1.0}'), line('{"a" 1.0}'), line('{"a":1.0'), line('{"a":"1.0, 1.0'), line('{"a":[1.0] 1}')];
  for (const text of texts) assert.deepEqual(fedWith(text).issues, [Issue.BAD_ENVELOPE], text);
  for (const bytes of [Uint8Array.of(0xff), Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d), null, undefined, 1, {}, [], Symbol("x"), () => 1]) {
    assert.deepEqual(fedWith(bytes).issues, [Issue.BAD_ENVELOPE]);
  }
  assert.equal(fedWith(` \t\r\n${good} \n`).issues[0], Issue.UNKNOWN_EVENT);
  assert.equal(fedWith(` \t\r\n${line('{"a": [1.0 , { "b" :null} ]\t}')} \n`).issues[0], Issue.UNKNOWN_EVENT);
});

test("the order of keys does not matter, and names like __proto__ are names", () => {
  const other = '{"data":{"b":[1.0],"a":1},"kind":"future.kind","seq":1,"id":"x","run":"a"}';
  assert.equal(fedWith(line('{"a":1,"b":[1.0]}'), other).duplicates, 1);
  for (const number of ["1", "1.0"]) {
    const conflict = fedWith(line(`{"__proto__":{"v":${number}}}`), line(`{"v":${number}}`));
    assert.deepEqual([conflict.duplicates, conflict.issues.at(-1)], [0, Issue.ID_CONFLICT]);
  }
  const tools = fedWith(line('{"call_id":"__proto__"}', { kind: Kind.TOOL_REQUESTED }));
  assert.deepEqual(JSON.stringify(tools.snapshot().tools), '{"__proto__":"requested"}');
  for (const kind of ["constructor", "toString", "__proto__"]) {
    assert.deepEqual(fedWith(line("{}", { kind })).issues, [Issue.UNKNOWN_EVENT]);
  }
});

test("100,000 levels deep is no deeper than one", () => {
  const deep = (leaf) => line(`{"v":${"[".repeat(100_000)}${leaf}${"]".repeat(100_000)}}`);
  assert.deepEqual(fedWith(deep("1"), deep("1")).snapshot().duplicates, 1);
  assert.deepEqual(fedWith(deep("1"), deep("1.0")).issues, [Issue.UNKNOWN_EVENT, Issue.ID_CONFLICT]);
  let nested = {};
  for (let level = 0; level < 100_000; level += 1) nested = { nested };
  const progress = new Progress("a");
  progress.feed({ run: "a", id: "x", seq: 1, kind: "future.kind", data: nested });
  assert.deepEqual(progress.issues, [Issue.UNKNOWN_EVENT]);
});

const envelope = (changes) => ({ run: "a", id: "x", seq: 1, kind: "future.kind", data: {}, ...changes });

function fed(...events) {
  const progress = new Progress("a");
  for (const event of events) progress.feed(event);
  return progress;
}

test("whatever object is fed, nothing throws", () => {
  const cycle = { v: [] };
  cycle.v.push(cycle);
  const around = [];
  around.push(around);
  let shared = [];
  for (let level = 0; level < 100; level += 1) shared = [shared, shared];
  const thrower = new Proxy({}, { get: () => assert.fail(), ownKeys: () => assert.fail(), getPrototypeOf: () => assert.fail() });
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const notEnvelopes = [undefined, null, true, 1, 1n, NaN, "x", Symbol("x"), () => 1, [], new Date(0), new Map(), thrower, revoked.proxy,
    { get run() { throw new Error("hostile"); }, id: "x", seq: 1, kind: "k", data: {} },
    envelope({ data: thrower }), envelope({ data: [] }), envelope({ data: new Map() }), envelope({ seq: 1.5 }), envelope({ seq: 2 ** 53 }),
    envelope({ seq: NaN }), envelope({ seq: Infinity }), envelope({ run: new String("a") }), envelope({ more: 1 }), { ...envelope({}), [Symbol("x")]: 1 }];
  for (const event of notEnvelopes) assert.deepEqual(fed(event).issues, [Issue.BAD_ENVELOPE]);
  const values = [undefined, NaN, Infinity, -Infinity, Symbol("x"), () => 1, new Date(0), new Map(), new Set(), 10n ** 4300n, -(10n ** 4300n),
    "\ud800", cycle, around, thrower, revoked.proxy, { "\udfff": 1 }, { [Symbol("x")]: 1 }, [, 1], { get v() { throw new Error("hostile"); } }];
  for (const value of values) assert.deepEqual(fed(envelope({ data: { value } })).issues, [Issue.NOT_JSON]);
  const itself = {};
  itself.itself = itself;
  assert.deepEqual(fed(envelope({ data: itself })).issues, [Issue.NOT_JSON]);
  assert.deepEqual(fed(envelope({ data: { get v() { throw new Error("hostile"); } } })).issues, [Issue.BAD_ENVELOPE]);
  assert.deepEqual(fed(envelope({ data: { shared } }), envelope({ data: { shared } })).duplicates, 1);
  assert.deepEqual(fed(envelope({ data: Object.create(null) })).issues, [Issue.UNKNOWN_EVENT]);
  assert.equal(fed(envelope({ seq: 1n, kind: Kind.APPROVAL_WAIT })).status, "waiting");
});

test("an object reached twice is the same as two equal ones, and what was fed is remembered as it was", () => {
  const leaf = { v: 1 };
  assert.equal(fed(envelope({ data: { a: leaf, b: leaf } }), envelope({ data: { a: { v: 1 }, b: { v: 1 } } })).duplicates, 1);
  const data = { text: "x" };
  const progress = new Progress("a");
  progress.feed(envelope({ kind: Kind.TEXT_DELTA, data }));
  data.text = "y";
  progress.feed(envelope({ kind: Kind.TEXT_DELTA, data }));
  assert.deepEqual([progress.text, progress.issues], ["x", [Issue.ID_CONFLICT]]);
  const long = "x".repeat(10_000);
  assert.equal(fed(envelope({ data: { long } }), envelope({ data: { long } })).duplicates, 1);
  assert.deepEqual(fed(envelope({ data: { long } }), envelope({ data: { long: `${long}x` } })).issues.at(-1), Issue.ID_CONFLICT);
});

test("what can be read is a copy", () => {
  const progress = fed(envelope({ kind: Kind.TOOL_REQUESTED, data: { call_id: "c" } }), 1);
  progress.issues.length = 0;
  progress.tools.clear();
  progress.modelResponses.push("r");
  assert.deepEqual([progress.issues.length, progress.tools.size, progress.modelResponses.length], [1, 1, 0]);
});

test("a run is a non-empty text that can be written as UTF-8, a language one of the two", () => {
  for (const run of ["", 1, null, undefined, {}, "\ud800"]) assert.throws(() => new Progress(run), /run: /);
  for (const language of ["fr", "toString", 1]) assert.throws(() => new Progress("a", { language }), /language: /);
});

test("the time per event does not grow with the run", () => {
  const time = (events) => {
    const lines = Array.from({ length: events }, (_, i) => line('{"text":"hello"}', { kind: Kind.TEXT_DELTA, seq: i + 1, id: `a:${i + 1}` }));
    let best = Infinity;
    for (let round = 0; round < 3; round += 1) {
      const start = performance.now();
      const progress = new Progress("a");
      for (const each of lines) progress.feedJson(each);
      assert.equal(progress.text.length, 5 * events);
      best = Math.min(best, (performance.now() - start) / events);
    }
    return best;
  };
  time(10_000);
  assert.ok(time(160_000) < 10 * time(10_000)); // quadratic would be 16
});

test("a producer numbers a run; acceptance binds a verdict to its text", () => {
  const producer = new Producer("a");
  const progress = new Progress("a");
  assert.throws(() => acceptance(progress), /no success to judge/);
  progress.feed(producer.emit(Kind.TEXT_DELTA, { text: "x" }));
  progress.feed(producer.ownerFinished({ exhausted: true, isComplete: true, interruptions: [], cancelRequested: false, runtimeFailed: false, finalText: EXAMPLE }));
  assert.equal(progress.status, "checking");
  progress.feed(producer.emit(Kind.APP_CHECKED, acceptance(progress)));
  assert.deepEqual([progress.status, progress.lastSeq, producer.lastSeq], ["done", 3, 3]);
  const other = new Producer("b");
  const facts = { exhausted: true, isComplete: true, interruptions: [], cancelRequested: false, runtimeFailed: false, finalText: null };
  const outcome = (changes) => other.ownerFinished({ ...facts, ...changes })?.data.outcome ?? null;
  assert.deepEqual(
    [{}, { runtimeFailed: true, exhausted: false }, { exhausted: false, finalText: "x" }, { isComplete: false, cancelRequested: true },
      { cancelRequested: true, interruptions: [1] }, { interruptions: [1], finalText: "x" }, { interruptions: true }, { finalText: "" }].map(outcome),
    [null, "failed", null, null, "cancelled", "paused", "paused", "succeeded"],
  );
});
