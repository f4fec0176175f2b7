"""Which code of an event column is the event: advice for errors, never a decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Words for what trees of survival are mostly about, and for rows without it.
_EVENTS = frozenset(
    {
        *("dead", "died", "death", "deceased", "event", "failed", "failure", "churned"),
        *("relapse", "relapsed", "recurrence", "progression"),
        *("tot", "gestorben", "verstorben", "ereignis", "rezidiv", "décédé", "mort", "muerto"),
    }
)
_CENSORED = frozenset(
    {
        *("alive", "living", "lives", "lived", "survived", "censor", "censored", "cens"),
        *("lost to follow-up", "withdrawn", "lebt", "lebend", "zensiert", "vivant", "vivo"),
    }
)
# More codes than these are no causes.
_MOST_CODES = 6


@dataclass(frozen=True)
class EventCodes:
    """What the codes of an event column may mean."""

    # The codes that may be the event, of which one is; empty if nothing is known.
    events: tuple[object, ...]
    why: str = ""  # why it is that one, if that needs to be said
    # Whether the codes seem to be several causes, and 0 for rows without an event.
    are_causes: bool = False


def read_event_codes(values: Sequence[object]) -> EventCodes:
    """Return what codes of events may mean, by convention: as R has them, and by common words."""
    words = [code_word(value) for value in values]
    if set(words) == {"1", "2"}:
        return EventCodes(
            (values[words.index("2")],), "if they are codes as in R, where 2 is the event"
        )
    if len(words) == 2 and "0" in words:
        return EventCodes((values[1 - words.index("0")],))
    if 2 < len(words) <= _MOST_CODES and words == [str(code) for code in range(len(words))]:
        return EventCodes((values[-1],), are_causes=True)
    known = [value for value, word in zip(values, words, strict=True) if word in _EVENTS]
    if len(known) == 1 or (known and len(values) > 2):
        return EventCodes((known[0],))
    if len(values) > 2:
        return EventCodes(())
    uncensored = [value for value, word in zip(values, words, strict=True) if word not in _CENSORED]
    return EventCodes(tuple(uncensored) if len(uncensored) == 1 else tuple(values))


def code_word(value: object) -> str:
    """Return a code as text, in lower case and with 1 for 1.0."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip().lower()
