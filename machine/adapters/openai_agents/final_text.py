"""The final output of a run as text, since a verdict is bound to the bytes of a text."""

from __future__ import annotations

from pydantic_core import PydanticSerializationError, to_json


def final_text_of(output: object) -> str | None:
    """A final output as text.

    None stays None, as there is no result then; a text is itself; what `output_type` made (a
    model, a dataclass, a list …) is its JSON, without spaces, keys in the order of the fields;
    what has no JSON is its `str`.
    """
    if output is None or type(output) is str:
        return output
    if isinstance(output, str):
        return str(output)
    try:
        return to_json(output).decode()
    except (PydanticSerializationError, ValueError):
        return str(output)
