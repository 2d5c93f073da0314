/** The status that a person is shown. */
export type Status =
  | "running"
  | "waiting"
  | "cancelling"
  | "cancelled"
  | "failed"
  | "incomplete"
  | "unknown"
  | "checking"
  | "rejected"
  | "done";

export type Outcome = "succeeded" | "paused" | "cancelled" | "failed" | "incomplete";

export type CallState = "requested" | "running" | "returned" | "failed";

export type IssueCode =
  | "bad_envelope"
  | "not_json"
  | "id_conflict"
  | "sequence_gap_or_reorder"
  | "event_after_transport_close"
  | "event_after_terminal"
  | "unknown_event"
  | "bad_payload_or_transition";

export type Language = "zh" | "en";

/** The payload of each kind: exactly these keys. */
export interface Payloads {
  "text.delta": { text: string };
  "model.completed": { response_id: string };
  "model.unresolved": { response_id: string | null; reason: string };
  "tool.requested": { call_id: string };
  "tool.started": { call_id: string };
  "tool.finished": { call_id: string };
  "tool.failed": { call_id: string };
  "approval.wait": Record<string, never>;
  "cancel.requested": Record<string, never>;
  "run.ended": { outcome: Outcome; final_text: string | null };
  "app.checked": { digest: string; ok: boolean };
}

export type KindName = keyof Payloads;

/** An envelope of a known kind, with the payload of that kind. */
export type Envelope<K extends KindName = KindName> = {
  [Each in K]: { run: string; id: string; seq: number; kind: Each; data: Payloads[Each] };
}[K];

export declare const Kind: {
  readonly TEXT_DELTA: "text.delta";
  readonly MODEL_COMPLETED: "model.completed";
  readonly MODEL_UNRESOLVED: "model.unresolved";
  readonly TOOL_REQUESTED: "tool.requested";
  readonly TOOL_STARTED: "tool.started";
  readonly TOOL_FINISHED: "tool.finished";
  readonly TOOL_FAILED: "tool.failed";
  readonly APPROVAL_WAIT: "approval.wait";
  readonly CANCEL_REQUESTED: "cancel.requested";
  readonly RUN_ENDED: "run.ended";
  readonly APP_CHECKED: "app.checked";
};

export declare const Issue: {
  readonly BAD_ENVELOPE: "bad_envelope";
  readonly NOT_JSON: "not_json";
  readonly ID_CONFLICT: "id_conflict";
  readonly SEQUENCE_GAP_OR_REORDER: "sequence_gap_or_reorder";
  readonly EVENT_AFTER_TRANSPORT_CLOSE: "event_after_transport_close";
  readonly EVENT_AFTER_TERMINAL: "event_after_terminal";
  readonly UNKNOWN_EVENT: "unknown_event";
  readonly BAD_PAYLOAD_OR_TRANSITION: "bad_payload_or_transition";
};

/** The label of each status, for people: language, then status. */
export declare const LABELS: Readonly<Record<Language, Readonly<Record<Status, string>>>>;

/** What can be read of a run, under the contract's names; fit for `JSON.stringify`, see `last_seq`. */
export interface Snapshot {
  run: string;
  status: Status;
  message: string;
  issues: IssueCode[];
  text: string;
  tools: Record<string, CallState>;
  model_responses: string[];
  unresolved: boolean;
  recovered: boolean;
  foreign: number;
  duplicates: number;
  waiting: boolean;
  cancel_requested: boolean;
  terminal: Outcome | null;
  final_text: string | null;
  verdict: boolean | null;
  closed: boolean;
  /** A bigint only beyond 2^53 - 1. */
  last_seq: number | bigint;
}

/** What is known about one run. What goes in never throws, whatever it is. */
export declare class Progress {
  /** @throws if `run` is no non-empty, well-formed string, or the language is unknown. */
  constructor(run: string, options?: { language?: Language });

  /**
   * Take one envelope, as an object. Anything is accepted and judged. A number that was parsed
   * already cannot tell 1 from 1.0: use `feedJson` where the text is at hand.
   */
  feed(event: unknown): void;

  /** Take one envelope, as JSON: text, or its bytes in UTF-8. Anything else is `bad_envelope`. */
  feedJson(json: unknown): void;

  /** Record the end of the connection, and nothing else; again has no effect. */
  closeTransport(): void;

  /** All of it at once, under the contract's names. */
  snapshot(): Snapshot;

  readonly run: string;
  readonly status: Status;
  /** The label of the status, in the language chosen. */
  readonly message: string;
  /** Each reason for distrust once, in order of first appearance; a copy. */
  readonly issues: IssueCode[];
  readonly text: string;
  /** The state of each tool call, by call id, in order of request; a copy. */
  readonly tools: Map<string, CallState>;
  readonly modelResponses: string[];
  readonly unresolved: boolean;
  readonly recovered: boolean;
  readonly foreign: number;
  readonly duplicates: number;
  readonly waiting: boolean;
  readonly cancelRequested: boolean;
  readonly terminal: Outcome | null;
  readonly finalText: string | null;
  readonly verdict: boolean | null;
  readonly closed: boolean;
  /** A bigint only beyond 2^53 - 1. */
  readonly lastSeq: number | bigint;
}

/** Emits the envelopes of one run; the id follows from run and number. */
export declare class Producer {
  constructor(run: string);
  readonly run: string;
  readonly lastSeq: number;
  emit<K extends KindName>(kind: K, ...data: Payloads[K] extends Record<string, never> ? [] | [Payloads[K]] : [Payloads[K]]): Envelope<K>;
  ownerFinished(facts: {
    exhausted: boolean;
    isComplete: boolean;
    interruptions: boolean | readonly unknown[];
    cancelRequested: boolean;
    runtimeFailed: boolean;
    finalText: string | null;
  }): Envelope<"run.ended"> | null;
}

/** The one text that the built-in example accepts. */
export declare const EXAMPLE: string;

/** @throws if the run has no success to judge. */
export declare function acceptance(
  progress: Pick<Progress, "run" | "status" | "terminal" | "finalText">,
  expected?: string,
): Payloads["app.checked"];

/** The lower-case hex SHA-256 of the UTF-8 bytes of a text. */
export declare function sha256(text: string): string;

export interface SSEEvent {
  event: string;
  data: string;
  id: string;
}

/** A comment line, often a heartbeat: what follows its colon. */
export interface SSEComment {
  comment: string;
}

export type SSEErrorCode = "invalid_utf8" | "too_long" | "finished";

/** Why a stream cannot be decoded any further. */
export declare class SSEError extends Error {
  readonly code: SSEErrorCode;
  /** Of the first invalid byte, from the start of the stream. */
  readonly offset: number | null;
}

export interface SSEOptions {
  /** What to do with bytes that are not UTF-8: an error (the default), or as browsers do. */
  errors?: "strict" | "replace";
  /** The id in force at the start, where a stream is resumed. */
  lastEventId?: string;
  /** Limits, in UTF-16 units. */
  lineUnitsMax?: number;
  eventUnitsMax?: number;
  idUnitsMax?: number;
  /** A `retry` of more digits is ignored. */
  retryDigitsMax?: number;
}

/** Bytes of an event stream in, in any chunks; events out. */
export declare class SSEDecoder<Item = SSEEvent> {
  constructor(options?: SSEOptions & (Item extends SSEComment ? { comments: true } : { comments?: false }));
  readonly lastEventId: string;
  /** A bigint only beyond 2^53 - 1. */
  readonly retryMs: number | bigint | null;
  /** @throws SSEError, after the events before the error were returned. */
  feed(chunk: ArrayBuffer | ArrayBufferView): Item[];
  /** @throws SSEError */
  finish(): [];
}
