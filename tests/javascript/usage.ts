// How a TypeScript project uses the module; checked by tsc, never run.
import {
  acceptance,
  type Envelope,
  Kind,
  LABELS,
  Producer,
  Progress,
  type Snapshot,
  type SSEComment,
  SSEDecoder,
  SSEError,
  type SSEEvent,
  type Status,
} from "../../machine/javascript/doneness.mjs";

const progress = new Progress("a", { language: "en" });
const producer = new Producer("a");
const asked: Envelope<"tool.requested"> = producer.emit(Kind.TOOL_REQUESTED, { call_id: "c" });
progress.feed(asked);
progress.feed(producer.emit("approval.wait"));
progress.feedJson(new Uint8Array());
progress.closeTransport();
const status: Status = progress.status;
const label: string = LABELS.zh[status];
const all: Snapshot = progress.snapshot();
const running: boolean = progress.tools.get("c") === "running";
const verdict: { digest: string; ok: boolean } = acceptance(progress, "expected");

const decoder = new SSEDecoder({ errors: "replace" });
try {
  const events: SSEEvent[] = decoder.feed(new ArrayBuffer(0));
  const none: [] = decoder.finish();
  console.log(label, all.last_seq, running, verdict, events, none);
} catch (error) {
  if (error instanceof SSEError && error.code === "invalid_utf8") console.log(error.offset);
}

const withComments = new SSEDecoder<SSEEvent | SSEComment>({ comments: true });
for (const item of withComments.feed(new Uint8Array())) console.log("comment" in item ? item.comment : item.data);

export function textOf(envelope: Envelope): string | null {
  return envelope.kind === "text.delta" ? envelope.data.text : null;
}

// @ts-expect-error: nobody assigns a status
progress.status = "done";
// @ts-expect-error: there is no such status
const almost: Status = "completed";
// @ts-expect-error: a tool call has an id
producer.emit("tool.requested");
// @ts-expect-error: an outcome is one of five
producer.emit("run.ended", { outcome: "done", final_text: null });
// @ts-expect-error: bytes, not text
decoder.feed("data: x");
// @ts-expect-error: one of two policies
new SSEDecoder({ errors: "ignore" });
export { almost };
