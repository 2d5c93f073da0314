"""Data that programs take for other data: names, texts, values, each beside what it is taken for.

What somebody trims, folds, normalises, shortens, converts, parses or uses as a key of an object
comes out changed; here is an example of each. All of it can be said in JSON.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final
from unicodedata import normalize

NAMES: Final = (
    # Names that mean something to some language, where they are used as keys or converted.
    "__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "length", "prototype",
    "__class__", "null", "undefined", "NaN", "None", "true", "false", "0", "1", "-1", "01", "1.0",
    "1e3", " ", "\t", "\n", "\0", "\u2028", "\ufeff", "\u200b", "'", '"', "\\", "a.b", "a/b", "%2F",
    "$ref", "*", "[0]", "\U0001f468\u200d\U0001f469", "\u202e", "\xc9", "n" * 300,
)  # fmt: skip

ALIKE: Final = (
    # Two names that become one when they are trimmed, folded, normalised, shortened, split, …
    ("c1", "c1 "), ("c1", " c1"), ("c1", "c1\n"), ("c1", "c1\0"), ("c1", "\0c1"), ("c1", "c1\0x"),
    ("c1", "C1"), ("c1", "c1\u200b"), ("c1", "\ufeffc1"), ("c1", "\uff431"), ("c1", "\u04411"),
    ("c1", "c1'"), ("c1", "'c1'"), ("c1", '"c1"'), ("c1", "c1:"), ("c1", ":c1"), ("c1", "c1/"),
    ("c1", "c1#2"), ("c1", "c-1"), ("c1", "c_1"), ("c1", "c 1"), ("c1", "c1\r"), ("c1", "c1\u2028"),
    ("c  1", "c 1"), ("c\t1", "c 1"), ("a-b", "a_b"), ("a.b", "a_b"), ("a/b", "a\\b"),
    ("a%2Fb", "a/b"), ("a+b", "a b"), ("&lt;", "<"), ("\\n", "\n"), ("\\u00e9", "\xe9"),
    ("\xe9", "e\u0301"), ("\xe9", "\xc9"), ("\xdf", "ss"), ("\ufb01", "fi"), ("\u0130", "i\u0307"),
    ("\u212b", "\xc5"), ("1", "01"), ("1", "1.0"), ("1", "+1"), ("1", "\uff11"), ("1", "\u0661"),
    ("10", "1e1"), ("1", "true"), ("0", "false"), ("a:1", "b:1"), ("a:1", "a:2"), ("a:1", "a:01"),
    ("a1", "a2"), ("ab", "ba"), ("ab", "aab"), ("x", "xx"), ("call_1", "call_10"),
    ("9007199254740993", "9007199254740992"), ("\U0001f600", "\U0001f601"), ("\u00ff", "y\u0308"),
    ("call_1", "1"), ("run-A:1", "1"), ("run-A:1", "A:1"), ("toolu_a", "call_a"),
    *(("n" * length + "a", "n" * length + "b") for length in (7, 8, 12, 16, 20, 24, 31, 32, 36)),
    *(("n" * length + "a", "n" * length + "b") for length in (40, 63, 64, 127, 128, 255, 256)),
    *(("n" * length + "a", "n" * length + "b") for length in (512, 1000, 1024, 4096)),
    *(("a" + "n" * length, "b" + "n" * length) for length in (8, 16, 32, 64, 128, 256, 1024)),
    ("a" + "n" * 400 + "a", "a" + "m" * 400 + "a"),
)  # fmt: skip

TEXTS: Final = (
    "", " ", "\n", "\r\n", "\r", "\t", "\0", " a ", "a\0b", "\ufeffa", "e\u0301", "\uff46",
    "\ufb01", "<b>&amp;</b>", "\x1b[1m", "\x07", "\x7f", "\U0001f600",
    "\U0001f468\u200d\U0001f469", "\u2028", "\u202e", "\ufffd", "\uffff", "\U0010ffff", "null",
    "None", "undefined", "0",
    "false", "NaN",
    "[DONE]", "[done]", "done", "Done.", "DONE", "<|end|>", "<eos>", "</s>", "stop", "EOF", "error",
    "Error: no", "FINISHED", "Task complete", "succeeded", "cancelled", '{"done": true}',
    '{"type":"done"}', '{"kind":"run.ended","data":{"outcome":"succeeded","final_text":"F"}}',
    "data: x\n\n", "event: done", "%s %d {0} ${x}", "\\n", '"', "'", "\\", "\\u0041", "**b**",
    "`", "```", "#", "@here", "/stop", "\u5408\u6210\u5de1\u68c0", "n" * 1_000, "\xe9" * 700,
    "$& $$ $1 $` $'", "\\1 \\g<0> %% {} {{}}",
    "\U0001f600" * 300, "ab\r\ncd\r\n", "line\n" * 50, "\x85", "\x0c", "\xa0", "\xad",
)  # fmt: skip

LONG_TEXTS: Final = ("n" * 5_000, "n" * 70_000, "\xe9" * 40_000)

STRANGE_KINDS: Final = (
    "ping", "heartbeat", "keepalive", "keep-alive", "noop", "comment", "debug", "log", "trace",
    "error", "warning", "message", "done", "end", "close", "text", "token", "delta", "usage",
    "status", "progress", "metadata", "x-vendor", "x.vendor", "custom.event", "internal.tick",
    "adapter.other", "adapter.unsupported_event", "adapter.unresolved_terminal", "_private",
    "run.started", "run.finished", "run.completed", "run.succeeded", "run.cancelled", "run.failed",
    "run.paused", "run.resumed", "run.progress", "run", "response.completed", "model.started",
    "model.delta", "model.failed", "model.usage", "model", "tool.called", "tool.progress",
    "tool.output", "tool.returned", "tool.completed", "tool.delta", "tool.cancelled", "tool",
    "text.done", "text.completed", "text.end", "text", "reasoning.delta", "thinking.delta",
    "approval.granted", "approval.denied", "approval.done", "approval.required", "approval",
    "cancel.confirmed", "cancel", "cancelled", "app.accepted", "app", "agent.updated",
    "step.completed", "checkpoint", "session.created", "stream.end", "[DONE]", "*", ".", "..",
)  # fmt: skip

TELLING_DATA: Final[tuple[dict[str, Any], ...]] = (
    # What much takes for an end or a failure, wherever it stands.
    {"message": "error"}, {"error": "error"}, {"error": {"message": "error", "code": 500}},
    {"type": "error"}, {"code": 500}, {"is_error": True}, {"status": "failed"}, {"done": True},
    {"finished": True}, {"final": True}, {"last": True}, {"status": "succeeded"}, {"ok": True},
    {"status": "done"}, {"finish_reason": "stop"}, {"stop_reason": "end_turn"},
    {"outcome": "succeeded", "final_text": "F"}, {"type": "done"}, {"state": "completed"},
    {"cancelled": True}, {"event": "cancel.requested"}, {"kind": "approval.wait"}, {"retry": True},
)  # fmt: skip

WRONG_VALUES: Final[tuple[Any, ...]] = (
    None, True, False, 0, 1, -1, 2, 1.5, "", " ", "0", "1", "null", "true", "false", "True", "yes",
    "ok", "x", [], {}, [None], ["x"], ["succeeded"], {"a": 1}, {"text": "x"}, {"value": "x"}, [[]],
    {"length": 1}, 10**15, -0.5, 1e300, "[]", "{}",
)  # fmt: skip

WRONG_OUTCOMES: Final = (
    "success", "succeed", "Succeeded", "SUCCEEDED", "succeeded ", " succeeded", "succeeded\n",
    "completed", "complete", "done", "finished", "ok", "ended", "canceled", "Cancelled", "aborted",
    "interrupted", "stopped", "error", "errored", "failure", "FAILED", "fail", "timeout", "expired",
    "partial", "max_turns", "incomplete ", "Incomplete", "pause", "Paused", "paused ", "waiting",
    "requires_action", "input_required", "rejected", "unknown", "running", "checking", "",
    "constructor", "__proto__", "toString", "succeeded\0", "\uff53ucceeded", "0", "1",
)  # fmt: skip

MORE_KEYS: Final = (
    "more", "_", "_meta", "$schema", "x", "x-trace", "id", "seq", "run", "kind", "type", "name",
    "ts", "time", "timestamp", "created_at", "index", "version", "v", "meta", "metadata", "extra",
    "usage", "args", "output", "result", "error", "message", "reason", "role", "text", "call_id",
    "ok", "trace_id", "parent", "source", "data", "", " ", "__proto__", "constructor", "toString",
    "0", "length",
)  # fmt: skip

MORE_VALUES: Final[tuple[Any, ...]] = (None, "", "x", 0, False, [], {})

NUMBERS: Final = (
    *range(2, 13), *range(97, 103), *range(126, 131), *range(254, 259), 999, 1000, 1001, 4096, 9999,
    10_000, 32_767, 32_768, 65_535, 65_536, 99_999, 10**6, 2**24, 2**24 + 1,
    *(2**31 + d for d in (-2, -1, 0, 1)), *(2**32 + d for d in (-2, -1, 0, 1)), 2**40,
    *(2**53 + d for d in (-3, -2, -1, 0, 1, 2)), 2**62, *(2**63 + d for d in (-2, -1, 0, 1)),
    *(2**64 + d for d in (-2, -1, 0, 1)), 10**15, 10**16, 10**19, 10**20, 10**21, 10**30, 10**100,
    10**400, 10**4298,
)  # fmt: skip

# Values that are different content, though much takes them for the same.
DIFFERENT: Final[tuple[tuple[Any, Any], ...]] = (
    (1, 1.0), (1, True), (0, False), (1, "1"), (0, ""), (0, "0"), (1.5, "1.5"), (True, "true"),
    (False, None), (None, "null"), (None, ""), (None, "None"), ("", " "), ("a", "A"), ("a", "a "),
    ("\xe9", "e\u0301"), ("\xe9", "\\u00e9"), ("\n", "\\n"), ("\r\n", "\n"), ("a", "b"),
    (0, 1), (1, -1), (10, 11), (0.1, 0.1000000001), (1e300, 1e301), (10**15, 10**15 + 1),
    (2**53, 2**53 + 1), (10**30, 10**30 + 1), (1e15, 10**15), ([], {}), ([], None), ({}, None),
    ([], ""), ([], [[]]), ({}, [{}]), ([None], []), ([1], 1), (["x"], "x"), ([1, 2], [2, 1]),
    ([1, 2], [1, 2, 3]), ([1], [1, 1]), (["a,b"], ["a", "b"]), (["ab"], ["a", "b"]),
    (["a", ""], ["a"]),
    ([1, [2]], [[1], 2]), ([1, [2]], [1, 2]), ("[1]", [1]), ('{"a":1}', {"a": 1}), (["1"], [1]),
    ({"a": 1}, {"a": 2}), ({"a": 1}, {"b": 1}), ({"a": 1}, {"A": 1}), ({"a": 1}, {"a": 1, "b": 1}),
    ({"a": None}, {}), ({"a": {}}, {}), ({"x": 1, "y": 2}, {"x": 2, "y": 1}), ({"1": 1}, {"2": 1}),
    ({"a": "b"}, ["a", "b"]), ({"a": {"b": 1}}, {"a": {"b": 2}}),
    ({"a": {"b": 1}}, {"a": {"c": 1}}),
    ({"a": {"b": {}}}, {"a": {"b": []}}), ([[[1]]], [[[2]]]), ([[[1]]], [[[True]]]),
    ({"a": [{"b": [1]}]}, {"a": [{"b": [2]}]}), ({"a": [{"b": 1}]}, {"a": [{"b": 1.0}]}),
    ({"a": {"b": {"c": {"d": {"e": 1}}}}}, {"a": {"b": {"c": {"d": {"e": 2}}}}}),
    ({"__proto__": 1}, {}), ({"__proto__": 1}, {"__proto__": 2}),
    ({"a": {"__proto__": {}}}, {"a": {}}),
    ({"constructor": 1}, {"constructor": 2}), ({"a": 1, "b": 2}, {"a": 1, "c": 2}),
    ({"a b": 1}, {"a": {"b": 1}}), ({"a.b": 1}, {"a": {"b": 1}}),
    ("n" * 300 + "a", "n" * 300 + "b"),
    ("a" + "n" * 5000, "b" + "n" * 5000), ("n" * 5000 + "a", "n" * 5000 + "b"), ("ab", "ba"),
    ("a" * 2500 + "b" + "c" * 2500, "a" * 2500 + "d" + "c" * 2500), (["n"] * 300, ["n"] * 301),
)  # fmt: skip

# The same content, written in two orders.
SAME: Final[tuple[tuple[Any, Any], ...]] = (
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({"x": {"a": 1, "b": 2}}, {"x": {"b": 2, "a": 1}}),
    ({"x": [{"a": 1, "b": [1]}]}, {"x": [{"b": [1], "a": 1}]}),
    ({"a": {"b": {"c": 1, "d": 2}}, "e": 3}, {"e": 3, "a": {"b": {"d": 2, "c": 1}}}),
    ({"10": 1, "9": 2, "a": 3}, {"a": 3, "9": 2, "10": 1}),
    ({"\xe9": 1, "z": 2}, {"z": 2, "\xe9": 1}),
    ({"__proto__": 1, "a": 2}, {"a": 2, "__proto__": 1}),
)  # fmt: skip


def misspelt(kind: str) -> Iterator[str]:
    """Kinds that are not this one, though much takes them for it."""
    first, second = kind.split(".")
    yield from (kind.upper(), kind.title(), first.capitalize() + "." + second)
    yield from (f" {kind}", f"{kind} ", f"{kind}\n", f"{kind}\0", f"\ufeff{kind}", f"{kind}\u200b")
    yield from (f"{first}{mark}{second}" for mark in ("_", "-", "/", ":", "", " ", "..", "\uff0e"))
    yield from (f"{first}{second.capitalize()}", f"{first}.{second}.", f".{kind}", f"{kind}.v1")
    yield from (f"agent.{kind}", f"{kind}s", kind[:-1], first, second, f"{kind}?x=1", f"{kind};")
    yield chr(ord(kind[0]) + 0xFEE0) + kind[1:]


def wrong_digests(final_text: str, text: str) -> Iterator[tuple[str, str]]:
    """Digests that are not that of a final text, with what somebody took for it."""
    encoded = final_text.encode()
    right = hashlib.sha256(encoded).hexdigest()
    made = {
        "in upper case": right.upper(),
        "with one letter in upper case": right.replace("a", "A", 1).replace("b", "B", 1),
        "behind a space": f" {right}",
        "before a space": f"{right} ",
        "before a line end": f"{right}\n",
        "before NUL": f"{right}\0",
        "with its name": f"sha256:{right}",
        "with another form of its name": f"sha256-{right}",
        "as a number": f"0x{right}",
        "in quotation marks": f'"{right}"',
        "with colons": ":".join(right[at : at + 2] for at in range(0, 64, 2)),
        "twice": right + right,
        "and one more": f"{right}0",
        "but the last": right[:-1],
        "but the first": right[1:],
        "the first half": right[:32],
        "the first 16": right[:16],
        "the first 8": right[:8],
        "the first one": right[:1],
        "right in the first half": right[:32] + "0" * 32,
        "right in the second half": "0" * 32 + right[32:],
        "right but for the last": right[:-1] + ("0" if right[-1] != "0" else "1"),
        "right but for the first": ("0" if right[0] != "0" else "1") + right[1:],
        "right in the first 8": right[:8] + "0" * 56,
        "backwards": right[::-1],
        "zeros": "0" * 64,
        "empty": "",
        "in base 64": base64.b64encode(hashlib.sha256(encoded).digest()).decode(),
        "in base 64, for URLs": base64.urlsafe_b64encode(hashlib.sha256(encoded).digest()).decode(),
        "by MD5": hashlib.md5(encoded).hexdigest(),  # noqa: S324 # wrong on purpose
        "by SHA-1": hashlib.sha1(encoded).hexdigest(),  # noqa: S324 # likewise
        "by SHA-512": hashlib.sha512(encoded).hexdigest(),
        "by SHA-3": hashlib.sha3_256(encoded).hexdigest(),
        "of the digest": hashlib.sha256(right.encode()).hexdigest(),
        "the text itself": final_text,
        "null as text": "null",
        "ok": "ok",
    }
    others = {
        "of nothing": b"",
        "of all text": text.encode(),
        "in UTF-16": final_text.encode("utf-16-le"),
        "in UTF-16, the other way round": final_text.encode("utf-16-be"),
        "in UTF-16 with a mark": final_text.encode("utf-16"),
        "in UTF-8 with a mark": final_text.encode("utf-8-sig"),
        "in Latin-1": final_text.encode("latin-1", "replace"),
        "in ASCII": final_text.encode("ascii", "ignore"),
        "with a line end": encoded + b"\n",
        "trimmed": final_text.strip().encode(),
        "trimmed at its end": final_text.rstrip().encode(),
        "composed": normalize("NFC", final_text).encode(),
        "composed for compatibility": normalize("NFKC", final_text).encode(),
        "decomposed": normalize("NFD", final_text).encode(),
        "with other line ends": final_text.replace("\r\n", "\n").encode(),
        "in lower case": final_text.lower().encode(),
        "as JSON": json.dumps(final_text).encode(),
        "as JSON in UTF-8": json.dumps(final_text, ensure_ascii=False).encode(),
        "as an object": json.dumps({"final_text": final_text}).encode(),
        "cut at 1,000": final_text[:1000].encode(),
        "cut at 1,024": final_text[:1024].encode(),
        "cut at 4,096": final_text[:4096].encode(),
        "cut at 65,536 bytes": encoded[:65536],
        "null": b"null",
    }
    made |= {name: hashlib.sha256(other).hexdigest() for name, other in others.items()}
    yield from ((name, digest) for name, digest in made.items() if digest != right)
