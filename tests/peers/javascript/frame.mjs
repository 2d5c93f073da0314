// The JavaScript peers at their decoder layer. Standard input: one JSON object, peer and streams,
// each a list of chunks in base64; standard output: for each stream the events by chunk, or what
// was thrown. An event is [event, data, id].

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import path from "node:path";

const require = createRequire(import.meta.url);

function withParser(chunks) {
  const { createParser } = require("eventsource-parser");
  const lists = [];
  let lastId = "";
  const parser = createParser({
    onEvent(event) {
      if (event.id !== undefined) lastId = event.id;
      lists.at(-1).push([event.event || "message", event.data, lastId]);
    },
  });
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for (const chunk of chunks) {
    lists.push([]);
    parser.feed(decoder.decode(chunk, { stream: true }));
  }
  lists.push([]);
  return lists;
}

function withUndici(chunks) {
  const inside = "lib/web/eventsource/eventsource-stream.js";
  const { EventSourceStream } = require(path.join(path.dirname(require.resolve("undici")), inside));
  const lists = [];
  const settings = { origin: "", reconnectionTime: 0, lastEventId: "" };
  const stream = new EventSourceStream({
    eventSourceSettings: settings,
    push(event) {
      const { type, options } = event;
      lists.at(-1).push([type, options.data, options.lastEventId]);
    },
  });
  for (const chunk of chunks) {
    lists.push([]);
    stream._transform(chunk, "buffer", () => {});
  }
  lists.push([]);
  return lists;
}

const PEERS = { "eventsource-parser": withParser, undici: withUndici };

const { peer, streams, seconds } = JSON.parse(readFileSync(0, "utf-8"));
if (seconds) {
  // A speed: all chunks of one stream, in CPU time, the median of the rounds.
  const wire = Buffer.from(streams[0].wire, "base64");
  const chunks = [];
  for (let at = 0; at < wire.length; at += streams[0].step) {
    chunks.push(wire.subarray(at, at + streams[0].step));
  }
  const took = [];
  for (let round = 0; round < seconds; round += 1) {
    const before = process.cpuUsage();
    PEERS[peer](chunks);
    const { user, system } = process.cpuUsage(before);
    took.push((user + system) / 1e6);
  }
  took.sort((a, b) => a - b);
  process.stdout.write(JSON.stringify(took[took.length >> 1]));
} else {
  const answers = streams.map((chunks) => {
    try {
      return PEERS[peer](chunks.map((chunk) => Buffer.from(chunk, "base64")));
    } catch (error) {
      return String(error);
    }
  });
  process.stdout.write(JSON.stringify(answers));
}
