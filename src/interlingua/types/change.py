"""Changes that translation makes, and the one closed table of all that it may make.

Rules
- Every approximation, drop, repair and refusal of every dialect is one `Change` with a code from `CODES`.
- `path` points into the canonical JSON of the request or response (RFC 6901), never into a wire body.
- The support matrix is generated from `CODES`; a code that is not in the table cannot be made.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec

__all__ = ["CODES", "MAX_CHANGES", "Action", "Change", "Changes", "CodeRow", "Stage", "first_changes"]

MAX_CHANGES = 256
"""How many changes of one request are told one by one; one more entry has the number of the others."""

Action: TypeAlias = Literal["dropped", "approximated", "repaired", "refused"]
"""Left out; said in another way; understood although broken; not sent at all."""
Stage: TypeAlias = Literal[
    "decode_request", "encode_request", "decode_response", "encode_response", "media", "routing", "repair", "hook"
]
"""Where on the way: reading or writing a request or an answer, or one of the steps between."""


class CodeRow(msgspec.Struct, frozen=True):
    """One line of the closed table."""

    action: Action
    """The action a change of this code has unless it says otherwise."""
    meaning: str
    """The event, in one clause."""


CODES: dict[str, CodeRow] = {
    # dropped: a knob or an ornament that the target has no place for
    "parameter_unsupported": CodeRow("dropped", "a tuning knob that the target does not take"),
    "seal_foreign": CodeRow("dropped", "sealed reasoning that another issuer made"),
    "seal_bound": CodeRow(
        "dropped", "sealed reasoning that its issuer binds to what stood before it, which has changed"
    ),
    "thinking_unsupported": CodeRow("dropped", "thinking text, where the target has no place for it"),
    "cache_unsupported": CodeRow("dropped", "a cache mark, where the target has none"),
    "annotation_unsupported": CodeRow("dropped", "citations or annotations, where the target has no place for them"),
    "name_unsupported": CodeRow("dropped", "the name of a message or of its author"),
    "detail_unsupported": CodeRow("dropped", "a media detail or a file name"),
    "media_type_unsaid": CodeRow("dropped", "a media type that neither the target nor the bytes say"),
    "strict_unsupported": CodeRow("dropped", "a wish for strict schemas that the target cannot grant"),
    "extra_foreign": CodeRow("dropped", "a wire member that only another dialect knows"),
    "empty_part": CodeRow("dropped", "an empty text part that the target would refuse"),
    "alternatives_unsupported": CodeRow("dropped", "further choices, where the target carries one"),
    "id_foreign": CodeRow("dropped", "the id of an item that the gateway gave to nobody, or to another key"),
    "reasoning_missing": CodeRow("dropped", "reasoning of earlier turns that is not stored for this prefix"),
    "changes_counted": CodeRow("dropped", "further entries of one request, of which only the number is told"),
    "raw_cut_off": CodeRow("dropped", "the end of a provider's own reply that is too long to be kept as it came"),
    "tools_withheld": CodeRow("dropped", "the tools, because no call was allowed and the target has no such mode"),
    # approximated: said in another way
    "parameter_adjusted": CodeRow("approximated", "a knob set to the nearest value that the target takes"),
    "parameter_added": CodeRow("approximated", "a value that the target insists on, taken from the model's facts"),
    "tool_choice_approximated": CodeRow("approximated", "a tool choice that the target has only nearly"),
    "output_schema_prompted": CodeRow("approximated", "an output schema stated in the system text"),
    "output_schema_loosened": CodeRow("approximated", "an output schema sent as plain JSON mode"),
    "output_schema_forced_tool": CodeRow("approximated", "an output schema asked for through a forced tool"),
    "schema_rewritten": CodeRow("approximated", "a JSON Schema rewritten into the target's subset"),
    "description_added": CodeRow("approximated", "a description that the target insists on, taken from the name"),
    "name_mapped": CodeRow("approximated", "a tool name mapped to one that the target takes, and back"),
    "id_mapped": CodeRow("approximated", "a call id mapped to one that the target takes, and back"),
    "system_moved": CodeRow("approximated", "a system message told in another place or role"),
    "messages_merged": CodeRow("approximated", "neighbouring messages of one role sent as one"),
    "order_changed": CodeRow("approximated", "parts told in another order"),
    "result_media_moved": CodeRow("approximated", "media of a tool result sent in the user message after it"),
    "result_as_text": CodeRow("approximated", "a structured tool result sent as text"),
    "error_prefix_ambiguous": CodeRow("approximated", "a plain result whose text reads like an error in the target"),
    "broken_call_as_text": CodeRow("approximated", "a broken tool call and its result sent as text"),
    "freeform_as_function": CodeRow("approximated", "a freeform tool offered as a function with one string"),
    "thinking_as_text": CodeRow("approximated", "thinking sent as ordinary text"),
    "refusal_as_text": CodeRow("approximated", "a refusal sent as ordinary text"),
    "citation_widened": CodeRow("approximated", "a citation of some words told of the whole text around them"),
    "server_tool_as_text": CodeRow("approximated", "a step of a provider-run tool told in words"),
    "media_as_text": CodeRow("approximated", "a media part sent as a text note"),
    "image_resized": CodeRow("approximated", "an image scaled down to the size that the target takes or looks at"),
    "image_turned": CodeRow("approximated", "an image turned upright, as its Exif block says"),
    "image_transcoded": CodeRow("approximated", "an image in another format, colour space or depth"),
    "image_still": CodeRow("approximated", "the first frame or page of an image that has several"),
    "image_compressed": CodeRow("approximated", "an image of a lower quality, to fit the target's limit of bytes"),
    "image_as_given": CodeRow("approximated", "an image that wants turning or other colours, sent as it is"),
    "detail_adjusted": CodeRow("approximated", "a full image that is beyond the target's limits, made smaller"),
    "finish_reason_approximated": CodeRow("approximated", "a finish reason that the target has only nearly"),
    "vectors_pooled": CodeRow("approximated", "vectors pooled of a model that was not trained to tell texts apart"),
    "tokens_estimated": CodeRow("approximated", "a count of tokens estimated, where nobody can be asked"),
    "request_hooked": CodeRow("approximated", "a member of the request that a hook has changed"),
    "response_hooked": CodeRow("approximated", "a member of the answer that a hook has changed"),
    "seal_filler": CodeRow("approximated", "the provider's documented filler in place of lost sealed state"),
    # repaired: something broken was understood all the same
    "functions_deprecated": CodeRow("repaired", "the deprecated `functions` format read as tools"),
    "arguments_empty": CodeRow("repaired", "empty or missing arguments read as {}"),
    "arguments_object": CodeRow("repaired", "arguments sent as an object where a string belongs"),
    "arguments_twice": CodeRow("repaired", "arguments encoded twice read as the object that they are the text of"),
    "arguments_broken": CodeRow("repaired", "a broken call in the history sent as text"),
    "fence_removed": CodeRow("repaired", "a Markdown fence around JSON, where JSON alone was asked for"),
    "output_cut": CodeRow("repaired", "a typed answer that was cut, closed after its last whole value"),
    "output_commas": CodeRow("repaired", "commas at the end of objects and lists of a typed answer"),
    "output_quotes": CodeRow("repaired", "single quotes in a typed answer read as double ones"),
    "output_literals": CodeRow("repaired", "True, False and None in a typed answer read as JSON's words"),
    "output_controls": CodeRow("repaired", "raw control characters in a string of a typed answer"),
    "output_json_text": CodeRow("repaired", "an object or a list of a typed answer that came as text"),
    "output_scalar_text": CodeRow("repaired", "a number or a truth value of a typed answer that came as text"),
    "output_case": CodeRow("repaired", "a choice of a typed answer in other capitals"),
    "output_asked_again": CodeRow("repaired", "a typed answer that did not fit, asked for again with its problems"),
    "call_id_made": CodeRow("repaired", "an id made for a call that had none"),
    "call_id_duplicate": CodeRow("repaired", "a new id for a call that repeated another one's"),
    "calls_expanded": CodeRow("repaired", "a call that wrapped several calls of declared tools taken apart"),
    "call_name_cleaned": CodeRow("repaired", "control tokens cut from the name of a declared tool"),
    "thinking_repeated": CodeRow("repaired", "thinking that a client told in the text as well, told once"),
    "reasoning_restored": CodeRow("repaired", "reasoning of earlier turns put back by the gateway"),
    "result_orphan": CodeRow("repaired", "a tool result without its call sent as user text"),
    "result_missing": CodeRow("repaired", "an error result made for a call that had none"),
    "result_duplicate": CodeRow("repaired", "a second result for the same call left out"),
    "finish_reason_derived": CodeRow("repaired", "a finish reason that the content contradicted"),
    "media_type_corrected": CodeRow(
        "repaired", "a media type that the bytes contradict, or under a name that the target does not take"
    ),
    "lone_surrogate": CodeRow("repaired", "a lone surrogate replaced by U+FFFD"),
    "whole_number": CodeRow("repaired", "a whole number that came as 12.0 or as text"),
    "unexpected_type": CodeRow("repaired", "a value of another JSON type read for its words, or left out without any"),
    "count_clamped": CodeRow("repaired", "a count that cannot be true: below 0 left out, above 2^53 taken as that"),
    "foreign_shape": CodeRow("repaired", "a member in another dialect's shape understood"),
    # refused: what would change the meaning; the name is the `allow=` kind where there is one
    "images": CodeRow("refused", "an image that the target cannot take"),
    "audio": CodeRow("refused", "audio that the target cannot take"),
    "documents": CodeRow("refused", "a document that the target cannot take"),
    "tools": CodeRow("refused", "a tool that the target cannot take"),
    "output_schema": CodeRow("refused", "an output schema that the target cannot take"),
    "feature_missing": CodeRow("refused", "a feature that the caller requires, and the target is known not to have"),
    "server_tools": CodeRow("refused", "a provider-run tool of another dialect"),
    "media_refs": CodeRow("refused", "a reference to media that only another provider can resolve"),
    "opaque_part": CodeRow("refused", "a part that only another dialect understands"),
    "server_state": CodeRow("refused", "a conversation kept by another provider"),
    "choices": CodeRow("refused", "more choices than the target gives"),
    "prefill": CodeRow("refused", "a turn begun for the model to finish, where it finishes none"),
    "messages_empty": CodeRow("refused", "a conversation of which nothing is left that the target takes"),
}
"""Every code there is, its default action and its meaning."""


class Change(msgspec.Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True):
    """One thing that a translation changed."""

    action: Action
    """dropped, approximated, repaired or refused."""
    code: str
    """A code of `CODES`."""
    path: str
    """RFC 6901 pointer into the canonical JSON."""
    dialect: str | None = None
    """The dialect on whose account it happened."""
    stage: Stage | None = None
    """Where on the way it happened."""
    detail: str = ""
    """One clause for people: what, and why."""

    def __str__(self) -> str:
        """`dropped /temperature: …` in one line; without a place of its own, what it means and where it was read."""
        meaning = CODES[self.code].meaning
        if self.path:
            return f"{self.action} {self.path}: {self.detail or meaning}"
        return f"{self.action}: {meaning}" + (f" ({self.detail})" if self.detail else "")


def first_changes(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """Changes of several stages, of too many the first ones and the number of the others."""
    if len(changes) <= MAX_CHANGES:
        return changes
    return (*changes[:MAX_CHANGES], _more(len(changes) - MAX_CHANGES, None, None))


def _more(number: int, dialect: str | None, stage: Stage | None) -> Change:
    return Change(CODES["changes_counted"].action, "changes_counted", "", dialect, stage, f"{number} more")


class Changes:
    """A growing list of changes of one stage of one dialect."""

    __slots__ = ("_uncounted", "allow", "dialect", "entries", "stage")

    def __init__(self, dialect: str, stage: Stage, allow: frozenset[str] = frozenset()) -> None:
        """An empty list; what `allow` names is dropped instead of refused."""
        self.dialect: str = dialect
        self.stage: Stage = stage
        self.allow: frozenset[str] = allow
        self.entries: list[Change] = []
        self._uncounted = 0

    def add(self, code: str, path: str, detail: str = "", *, action: Action | None = None) -> None:
        """Record one change; KeyError for a code that is not in the table."""
        row = CODES[code]
        if row.action == "refused" and action is None and code in self.allow:
            action = "dropped"
        change = Change(action or row.action, code, path, self.dialect, self.stage, detail)
        if len(self.entries) < MAX_CHANGES:
            self.entries.append(change)
            return
        # Entries beyond the bound are counted; the first refusal is kept, since it forbids sending.
        if change.action == "refused" and not self.refused():
            self.entries[MAX_CHANGES - 1] = change
        self._uncounted += 1
        self.entries[MAX_CHANGES:] = [_more(self._uncounted, self.dialect, self.stage)]

    def repaired(self, codes: Iterable[str]) -> None:
        """Record what a parser repaired, as `code` or `code detail`; what each event of a stream needs is told once."""
        for repair in codes:
            code, _, detail = repair.partition(" ")
            if not any([entry.code == code and not entry.path for entry in self.entries]):
                self.add(code, "", detail)

    def refused(self) -> tuple[Change, ...]:
        """The entries that forbid sending."""
        return tuple([entry for entry in self.entries if entry.action == "refused"])

    def done(self) -> tuple[Change, ...]:
        """All entries, in order."""
        return tuple(self.entries)
