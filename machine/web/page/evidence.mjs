/**
 * Why a run has its status, and what it still lacks for *done*, read from its facts.
 *
 * The counterpart of `machine/evidence.py`; a test holds the two against each other.
 */

const SETTLED = new Set(["returned", "failed"]);

/** What is missing, for people: language, then lack; `{}` is what it is about. */
export const LACKS = Object.freeze({
  en: Object.freeze({
    new_run_after_issues: "a new run: this one cannot be trusted ({})",
    new_run_after_end: "a new run: this one ended, {}",
    new_run_after_rejection: "a new run: the application rejected this result",
    open_transport: "a new run, or an authoritative snapshot: this stream ended",
    decision: "the answer that the run waits for, and a new run to resume it",
    new_run_after_cancel: "a new run: this one was asked to cancel",
    good_response: "a model response that completes after the bad one",
    call_result: "the result of tool call {}",
    owner_conclusion: "the owner's statement how the run ended (run.ended)",
    acceptance: "the application's check of the final text (app.checked)",
  }),
  zh: Object.freeze({
    new_run_after_issues: "新的运行：本次运行的证据有矛盾（{}）",
    new_run_after_end: "新的运行：本次运行已结束（{}）",
    new_run_after_rejection: "新的运行：应用未接受本次结果",
    open_transport: "新的运行或权威快照：本连接已结束",
    decision: "所等待的答复，以及据此继续的新运行",
    new_run_after_cancel: "新的运行：本次运行已请求取消",
    good_response: "异常结束的模型响应之后，一个完整的模型响应",
    call_result: "工具调用 {} 的结果",
    owner_conclusion: "运行所有者对结束方式的声明（run.ended）",
    acceptance: "应用对最终文本的验收（app.checked）",
  }),
});

/** Why a status holds, for people: language, then reason. */
export const REASONS = Object.freeze({
  en: Object.freeze({
    issues: "The evidence contradicts itself ({}), and that is never taken back.",
    ended: "The host said that the run ended: {}.",
    paused: "The host said that the run paused.",
    unresolved: "A response of the model ended badly, and the host has not said how the run ended.",
    waiting: "The host said that the run waits for approval.",
    unjudged: "The host said that the run succeeded; the application has not checked the result yet.",
    accepted: "The host said that the run succeeded, and the application's check of this result passed.",
    refused: "The host said that the run succeeded, but the application's check of this result did not pass.",
    closed: "The stream ended, and nobody had said how the run ended. The end of a stream proves nothing.",
    cancelling: "A cancel was requested, and nobody has said yet that the run ended.",
    running: "Nobody has said yet that the run ended; neither text nor tools can.",
  }),
  zh: Object.freeze({
    issues: "证据自相矛盾（{}），且不可撤销。",
    ended: "主机确认运行已结束：{}。",
    paused: "主机确认运行已暂停。",
    unresolved: "有一个模型响应异常结束，主机尚未确认运行如何结束。",
    waiting: "主机确认运行正在等待批准。",
    unjudged: "主机确认运行成功结束；应用尚未验收结果。",
    accepted: "主机确认运行成功结束，应用对该结果的验收已通过。",
    refused: "主机确认运行成功结束，但应用对该结果的验收未通过。",
    closed: "事件流已结束，却没有关于运行如何结束的确认；流的结束不能证明任何事。",
    cancelling: "已请求取消，尚未确认运行结束。",
    running: "尚未确认运行结束；文本和工具都不能说明结束。",
  }),
});

/** The first reason that holds, in the order of the contract (section 3), and its subject. */
export function reason(progress) {
  const { issues, terminal, verdict } = progress;
  if (issues.length > 0) return ["issues", issues.join(", ")];
  if (terminal === "paused") return ["paused", ""];
  if (terminal !== null && terminal !== "succeeded") return ["ended", terminal];
  if (terminal === null && progress.unresolved) return ["unresolved", ""];
  if (progress.waiting) return ["waiting", ""];
  if (terminal === "succeeded") {
    if (verdict === null) return ["unjudged", ""];
    return verdict ? ["accepted", ""] : ["refused", ""];
  }
  if (progress.closed) return ["closed", ""];
  return progress.cancelRequested ? ["cancelling", ""] : ["running", ""];
}

/** What is missing for *done*, in the order in which it would have to come: pairs [lack, subject]. */
export function missing(progress) {
  const { issues, terminal, verdict } = progress;
  if (issues.length > 0) return [["new_run_after_issues", issues.join(", ")]];
  if (terminal === "paused") return [["decision", ""]];
  if (terminal === "succeeded") {
    if (verdict === null) return [["acceptance", ""]];
    return verdict ? [] : [["new_run_after_rejection", ""]];
  }
  if (terminal !== null) return [["new_run_after_end", terminal]];
  if (progress.waiting) return [["decision", ""]];
  if (progress.cancelRequested) return [["new_run_after_cancel", ""]];
  const lacks = [];
  if (progress.closed) lacks.push(["open_transport", ""]);
  if (progress.unresolved && !progress.recovered) lacks.push(["good_response", ""]);
  for (const [callId, state] of progress.tools) {
    if (!SETTLED.has(state)) lacks.push(["call_result", callId]);
  }
  return [...lacks, ["owner_conclusion", ""], ["acceptance", ""]];
}

/** A text of one of the tables above, about its subject. */
export function textOf(table, language, [name, subject]) {
  return table[language][name].replace("{}", () => subject);
}
