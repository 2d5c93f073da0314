// The JavaScript peers at their decoder layer, and ours. Standard input: one JSON object. With `streams`,
// each a list of chunks in base64, standard output has for each stream the events by chunk, or
// what was thrown; an event is [event, data, id]. With `speed` it has the CPU seconds of each
// round, for the peer, for its own floor, and for our decoder: they take turns.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import path from "node:path";

import { SSEDecoder } from "../../../machine/javascript/doneness.mjs";

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

function ours(take) {
  const decoder = new SSEDecoder({ errors: "replace" });
  return (chunk) => {
    for (const { event, data, id } of decoder.feed(chunk)) take(event, data, id);
  };
}

const PEERS = { "doneness.mjs": ours, "eventsource-parser": eventsourceParser, undici };

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
  const runs = {
    peer: () => count(peer, chunks),
    ours: () => count(ours, chunks),
    floor: () => floor(chunks, end),
  };
  const took = { events: runs.peer(), peer: [], ours: [], floor: [] }; // the first round warms up
  runs.ours();
  runs.floor();
  for (let round = 0; round < rounds; round += 1) {
    const order = Object.keys(runs);
    for (const name of round % 2 ? order.reverse() : order) took[name].push(seconds(runs[name]).seconds);
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
