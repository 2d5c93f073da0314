// The module beside this file as a program under test: JSON Lines on stdin, answers on stdout.
// The conversation is described in docs/protocol.md.
import { createInterface } from "node:readline";
import { Progress, SSEDecoder } from "./doneness.mjs";

let progress = null;

// The conversation has one member that JSON.stringify cannot write: a seq beyond 2^53 - 1.
function snapshot() {
  const { last_seq, ...rest } = progress.snapshot();
  return `{"last_seq":${last_seq},${JSON.stringify(rest).slice(1)}`;
}

function feed(event) {
  if (event === null) progress.closeTransport();
  else progress.feedJson(event);
}

function frame({ errors, chunks }) {
  const decoder = new SSEDecoder({ errors });
  const events = [];
  let error = null;
  try {
    for (const chunk of chunks) events.push(decoder.feed(Buffer.from(chunk, "base64")));
    events.push(decoder.finish());
  } catch (failure) {
    error = failure.message;
  }
  return `{"retry_ms":${decoder.retryMs},${JSON.stringify({ events, last_event_id: decoder.lastEventId, error }).slice(1)}`;
}

const ANSWERS = {
  hello: () => '{"protocol":1,"name":"doneness.mjs","capabilities":["trace","snapshot","text","framing"]}',
  open: ({ run }) => ((progress = new Progress(run)), snapshot()),
  feed: ({ event }) => (feed(event), snapshot()),
  close: () => (feed(null), snapshot()),
  snapshot,
  trace: ({ run, events, every }) => {
    progress = new Progress(run);
    const shown = [];
    for (const event of events) {
      feed(event);
      if (every) shown.push(snapshot());
    }
    return `{"shown":[${every ? shown : snapshot()}]}`;
  },
  frame,
};

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  process.stdout.write(`{"n":${question.n},${ANSWERS[question.op](question).slice(1)}\n`);
}
