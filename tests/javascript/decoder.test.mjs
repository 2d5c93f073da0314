// The JavaScript SSE decoder on the project's cases: whole, byte by byte, at every two-way split.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { SSEDecoder, SSEError } from "../../machine/javascript/doneness.mjs";

const fixture = (path) => JSON.parse(readFileSync(new URL(`../../fixtures/${path}`, import.meta.url), "utf-8"));
const bytes = (text) => new TextEncoder().encode(text);
const hex = (digits) => Uint8Array.from(Buffer.from(digits.replaceAll(" ", ""), "hex"));

function* partitions(wire) {
  yield [wire];
  yield Array.from(wire, (byte) => Uint8Array.of(byte));
  for (let cut = 0; cut <= wire.length; cut += 1) yield [wire.subarray(0, cut), wire.subarray(cut)];
}

/** All that a stream shows: its events, what is left, and the error if there is one. */
function shown(chunks, options) {
  const decoder = new SSEDecoder(options);
  const events = [];
  let failure = null;
  try {
    for (const chunk of chunks) events.push(...decoder.feed(chunk));
    assert.deepEqual(decoder.finish(), []);
    assert.deepEqual(decoder.finish(), []);
  } catch (error) {
    assert.ok(error instanceof SSEError, String(error));
    failure = [error.code, error.offset];
  }
  return { events, retry: decoder.retryMs, last: decoder.lastEventId, failure };
}

const CASES = [
  ...fixture("framing/cases.json").map(({ name, wire, expected }) => ({
    name, wire: bytes(wire), events: expected.events, retry: expected.retry_ms, valid: true,
  })),
  ...fixture("framing/more.json").map(({ name, wire, expected, retry, last_event_id, invalid_utf8 }) => ({
    name, wire: hex(Buffer.from(wire, "base64").toString("hex")), retry, last: last_event_id, valid: !invalid_utf8,
    events: expected.map(([event, data, id]) => ({ event, data, id })),
  })),
];

for (const kept of CASES) {
  for (const errors of kept.valid ? ["strict", "replace"] : ["replace"]) {
    test(`${kept.name}, ${errors}`, () => {
      for (const chunks of partitions(kept.wire)) {
        const { events, retry, last, failure } = shown(chunks, { errors });
        assert.deepEqual({ events, retry, failure }, { events: kept.events, retry: kept.retry, failure: null });
        if (kept.last !== undefined) assert.equal(last, kept.last);
      }
    });
  }
}

// The bytes, and where the first ill-formed sequence starts.
const INVALID = [
  ["80", 0], ["ff", 0], ["c0 af", 0], ["c2", 0], ["c2 0a", 0], ["e0 80 80", 0], ["e2 82", 0], ["e2 82 0a", 0], ["e2 28", 0],
  ["ed a0 80", 0], ["ef", 0], ["ef bb", 0], ["f0 80 80 80", 0], ["f0 9f 99", 0], ["f0 9f 99 0a", 0], ["f4 90 80 80", 0], ["f5", 0],
  ["e5 90 88 80", 3], ["f0 9f 99 82 c3", 4], ["e5 90 88 e5 90", 3], ["41 c3 a9 e2 82 41", 3],
];

test("invalid UTF-8 is an error that names the byte, whatever the chunks; what came before still counts", () => {
  for (const [tail, place] of INVALID) {
    const before = "\ufeffid: 7\ndata: 合\n\n";
    const wire = hex(Buffer.from(before).toString("hex") + tail);
    const offset = Buffer.byteLength(before) + place;
    for (const chunks of partitions(wire)) {
      assert.deepEqual(
        shown(chunks, {}),
        { events: [{ event: "message", data: "合", id: "7" }], retry: null, last: "7", failure: ["invalid_utf8", offset] },
        tail,
      );
    }
  }
});

test("an event is out with the byte that ends its blank line", () => {
  for (const wire of ["data: x\n\n", "data: x\r\n\r\n", "data: x\r\r", "data: x\n\r", "data: x\r\n\n", "data: x\n\r\n", "\ufeffdata: x\n\n"]) {
    const decoder = new SSEDecoder();
    const counts = Array.from(bytes(wire), (byte) => decoder.feed(Uint8Array.of(byte)).length);
    const due = bytes(wire).length - 1 - (wire.endsWith("\r\n") ? 1 : 0);
    assert.equal(counts.indexOf(1), due, JSON.stringify(wire));
    assert.equal(counts.filter((count) => count > 0).length, 1);
  }
});

test("after the end, and after an error, the decoder refuses", () => {
  const finished = new SSEDecoder();
  finished.finish();
  assert.throws(() => finished.feed(bytes("x")), { code: "finished" });
  assert.deepEqual(finished.finish(), []);
  const failed = new SSEDecoder();
  assert.throws(() => failed.feed(Uint8Array.of(0xff)), { code: "invalid_utf8", offset: 0 });
  assert.throws(() => failed.feed(bytes("data: x\n\n")), { code: "invalid_utf8", offset: 0 });
  assert.throws(() => failed.finish(), { code: "invalid_utf8", offset: 0 });
});

test("events before an error are returned; the next call throws it, and every later one", () => {
  const decoder = new SSEDecoder();
  assert.equal(decoder.feed(hex("64 61 74 61 3a 78 0a 0a ff")).length, 1);
  for (let times = 0; times < 2; times += 1) {
    assert.throws(() => decoder.feed(bytes("")), { code: "invalid_utf8", offset: 8 });
    assert.throws(() => decoder.finish(), { code: "invalid_utf8", offset: 8 });
  }
});

test("a line, an event or an id beyond its limit is an error, and none that is within", () => {
  const limits = { lineUnitsMax: 10, eventUnitsMax: 11, idUnitsMax: 3 };
  const failure = (text) => shown([bytes(text)], limits).failure;
  assert.deepEqual(shown([bytes("id:123\ndata:12345\ndata:12345\n\n")], limits).events.length, 1);
  for (const text of ["data:123456", "data:123456\n", "id:1234\n", "data:12345\ndata:12345\ndata\n"]) {
    assert.deepEqual(failure(text), ["too_long", null], text);
    assert.deepEqual(shown([bytes("data:x\n\n" + text)], limits).events, [{ event: "message", data: "x", id: "" }]);
  }
  assert.equal(failure("id:12\u0000456\n"), null);
  assert.equal(shown([bytes("data:12345\n\n".repeat(9))], limits).events.length, 9);
  for (const wrong of [0, -1, NaN, "x"]) assert.throws(() => new SSEDecoder({ lineUnitsMax: wrong }), RangeError);
  assert.throws(() => new SSEDecoder({ errors: "ignore" }), RangeError);
});

test("retry is exact up to its digits, leading zeros apart; more are ignored", () => {
  const retry = (digits) => shown([bytes(`retry:7\nretry:${digits}\n`)], {}).retry;
  assert.equal(retry("0"), 0);
  assert.equal(retry("000000000000000000000000042"), 42);
  assert.equal(retry("9999999999999999999"), 9999999999999999999n);
  assert.equal(retry("10000000000000000000"), 7);
  for (const wrong of ["", "-1", "+1", "  1", "1 ", "1_0", "1.0", "0x1", "\uff11", "\u0661"]) assert.equal(retry(wrong), 7, wrong);
});

test("comments come on request, in their place; an id in force at the start stays until another", () => {
  const wire = bytes(":one\ndata: x\n: two\n\n:\n");
  assert.deepEqual(new SSEDecoder({ comments: true, lastEventId: "5" }).feed(wire), [
    { comment: "one" }, { comment: " two" }, { event: "message", data: "x", id: "5" }, { comment: "" },
  ]);
  assert.deepEqual(new SSEDecoder().feed(wire).length, 1);
  assert.equal(new SSEDecoder({ lastEventId: "5" }).lastEventId, "5");
});

test("bytes come as any view of a buffer, and as nothing else", () => {
  const wire = bytes("..data: x\n\n");
  for (const chunk of [wire.subarray(2), wire.slice(2).buffer, new DataView(wire.buffer, 2)]) {
    assert.equal(new SSEDecoder().feed(chunk).length, 1);
  }
  for (const chunk of ["data: x\n\n", null, undefined, [1]]) assert.throws(() => new SSEDecoder().feed(chunk), TypeError);
});

test("one long line in small chunks takes time linear in its length", () => {
  const time = (length) => {
    const chunk = bytes("x".repeat(1000));
    let best = Infinity;
    for (let round = 0; round < 3; round += 1) {
      const decoder = new SSEDecoder();
      const start = performance.now();
      decoder.feed(bytes("data: "));
      for (let fed = 0; fed < length; fed += chunk.length) decoder.feed(chunk);
      assert.equal(decoder.feed(bytes("\n\n"))[0].data.length, length);
      best = Math.min(best, (performance.now() - start) / length);
    }
    return best;
  };
  time(2_000_000);
  assert.ok(time(32_000_000) < 10 * time(2_000_000)); // quadratic would be 16
});
