"""Reducers and decoders under test, in any language.

The checks know one interface, `Subject`: whole traces in, snapshots of the observables out, many
traces at a time. `open_subject` makes one of `package.module:factory` or `exec:COMMAND …`; the
project's own reducer is `own_subjects()`.

- A *trace* is the life of one reducer: its events in order, `END_OF_TRANSPORT` (None) where the
  connection ends.
- A *snapshot* is a mapping from the names in `OBSERVABLES` to values as JSON has them; `status`
  is always there, the rest where the subject shows it. `failure` instead says how it failed to
  answer at all (it raised, crashed, hung, …). Compare with `exploration.agrees`.
- `subject.last(run, traces)` gives the snapshot at the end of each trace, `subject.every(run,
  traces)` those after each event; `subject.takes(move)` says whether a move can be put to it, and
  counts what cannot.

Decoders have the same in `FramingSubject`: `frame(streams, errors)`.
"""

from doneness.generators.oracle import END_OF_TRANSPORT, OBSERVABLES
from doneness.generators.subject import PythonSubject, Snapshot, Subject, Trace, own_subjects
from doneness.generators.subjects.adapted import Adapted
from doneness.generators.subjects.framing import Framed, FramedEvent, FramingSubject
from doneness.generators.subjects.opening import SubjectError, open_framing, open_subject
from doneness.generators.subjects.options import (
    ExpectedFailures,
    OptionError,
    read_expected_failures,
    read_statuses,
    supported_kinds,
)

__all__ = [
    "END_OF_TRANSPORT",
    "OBSERVABLES",
    "Adapted",
    "ExpectedFailures",
    "Framed",
    "FramedEvent",
    "FramingSubject",
    "OptionError",
    "PythonSubject",
    "Snapshot",
    "Subject",
    "SubjectError",
    "Trace",
    "open_framing",
    "open_subject",
    "own_subjects",
    "read_expected_failures",
    "read_statuses",
    "supported_kinds",
]
