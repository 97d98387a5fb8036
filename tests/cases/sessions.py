"""What must come back from a memory whose items are whole sessions, where that is something else.

Beside each stands the property of the memory that is the reason; its page tells users of it.
"""

from dataclasses import dataclass
from typing import Any

APART = {}
"""By memory and case."""


@dataclass(frozen=True)
class Apart:
    why: str
    judge: Any


def apart(system, case, why):
    def register(judge):
        assert (system, case) not in APART
        APART[system, case] = Apart(why, judge)
        return judge

    return register


@apart("long-context", "B25", "its order looks at no question, so it gives no scores")
def both_in_one_item(r):
    (item,) = r.items(2)
    assert item["content"] == f"{r.told(0)}\n\n{r.told(1)}"
    assert "score" not in item


@apart("long-context", "B27", "its items are sessions, and this is one")
def all_of_it_whatever_was_asked_for(r):
    whole = "\n\n".join(r.told(0, n=n) for n in range(12))
    assert [r.texts(search) for search in (1, 2, 3)] == [[whole]] * 3


@apart("long-context", "B28", "its items are sessions, and this is one")
def one_item_each_time(r):
    first, *others = [r.items(1, n) for n in range(5)]
    assert len(first) == 1
    assert first[0]["content"].count(r.told(0)) == 10
    assert others == [first] * 4


@apart("long-context", "B40", "its items are sessions, and this is one")
def no_more_sessions_than_there_are(r):
    (text,) = r.texts(1)
    assert all(r.told(0, n=n) in text for n in range(40))
