// The JavaScript peers at their decoder layer. Standard input: one JSON object. With `streams`,
// each a list of chunks in base64, standard output has for each stream the events by chunk, or
// what was thrown; an event is [event, data, id]. With `speed` it has the CPU seconds of each
// round, for the peer and for its own floor.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import path from "node:path";

const require = createRequire(import.meta.url);

function eventsourceParser(take) {
  const { createParser } = require("eventsource-parser");
  let lastId = "";
  const parser = createParser({
    onEvent(event) {
      if (event.id !== undefined) lastId = event.id;
      take(event.event || "message", event.data, lastId);
    },
  });
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return (chunk) => parser.feed(decoder.decode(chunk, { stream: true }));
}

function undici(take) {
  const inside = "lib/web/eventsource/eventsource-stream.js";
  const { EventSourceStream } = require(path.join(path.dirname(require.resolve("undici")), inside));
  const stream = new EventSourceStream({
    eventSourceSettings: { origin: "", reconnectionTime: 0, lastEventId: "" },
    push: ({ type, options }) => take(type, options.data, options.lastEventId),
  });
  return (chunk) => stream._transform(chunk, "buffer", () => {});
}

const PEERS = { "eventsource-parser": eventsourceParser, undici };

function byChunk(peer, chunks) {
  const lists = [];
  const feed = peer((...event) => lists.at(-1).push(event));
  for (const chunk of chunks) {
    lists.push([]);
    feed(Buffer.from(chunk, "base64"));
  }
  lists.push([]);
  return lists;
}

function count(peer, chunks) {
  let events = 0;
  const feed = peer(() => {
    events += 1;
  });
  for (const chunk of chunks) feed(chunk);
  return events;
}

function floor(chunks, end) {
  return Buffer.concat(chunks).toString("utf-8").split(end).length - 1;
}

function seconds(run) {
  const before = process.cpuUsage();
  const events = run();
  const { user, system } = process.cpuUsage(before);
  return { events, seconds: (user + system) / 1e6 };
}

function speed(peer, { event, times, end, step, rounds }) {
  const one = Buffer.from(event, "base64");
  const wire = Buffer.alloc(one.length * times, one);
  const chunks = [];
  for (let at = 0; at < wire.length; at += step) chunks.push(wire.subarray(at, at + step));
  const took = { events: count(peer, chunks), peer: [], floor: [] }; // the first round warms up
  floor(chunks, end);
  for (let round = 0; round < rounds; round += 1) {
    took.peer.push(seconds(() => count(peer, chunks)).seconds);
    took.floor.push(seconds(() => floor(chunks, end)).seconds);
  }
  return took;
}

const asked = JSON.parse(readFileSync(0, "utf-8"));
const peer = PEERS[asked.peer];
const answer = asked.speed
  ? speed(peer, asked.speed)
  : asked.streams.map((chunks) => {
      try {
        return byChunk(peer, chunks);
      } catch (error) {
        return String(error);
      }
    });
process.stdout.write(JSON.stringify(answer));
