"""Families of user and request ids that a careless server takes for one another.

Every id is a template: ``{u}`` becomes an id in the documented shape (colons in it), ``{t}``
a token of letters and digits, ``{n}`` a number, all of them never used before. So each
history has users of its own although no store can be emptied.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Form:
    """A user id to be: a template."""

    text: str
    stored: bool = True
    """Whether anything is stored under it. Ids without a token in them are not: a later
    run, or another rule, would meet what was stored. Nor are numbers: some readers take them
    for their digits."""
    raw: bool = False
    """Sent as the JSON value that the text reads as (null, a number), which names nobody."""

    def value(self, names: Tag) -> Any:
        """What is sent as ``user_id``."""
        text = names.fill(self.text)
        return json.loads(text) if self.raw else text


@dataclass(frozen=True)
class Tag:
    """The names of one history: what its templates are filled with."""

    token: str
    """Letters and digits, of the same length for every history: none begins another."""

    def fill(self, template: str) -> str:
        """The id that a template stands for."""
        token = self.token
        number = str(10**11 + int(token, 16) % (9 * 10**11))
        filled = template.replace("{u}", f"eval:aml-{token}")
        return filled.replace("{t}", f"aml{token}").replace("{n}", number)


@dataclass(frozen=True)
class Family:
    """Ids that belong together because some server confuses them."""

    name: str
    users: tuple[Form, ...]
    requests: tuple[str, ...] = ("{u}:chunk-0", "{u}:chunk-1")
    aliases: tuple[str, ...] = ()
    """Keys beside ``user_id`` that name another user."""


def _forms(*texts: str) -> tuple[Form, ...]:
    return tuple(map(Form, texts))


def _asked(texts: Iterable[str]) -> tuple[Form, ...]:
    return tuple(Form(text, stored=False) for text in texts)


def _long() -> tuple[Form, ...]:
    stems = ("{u}" + "x" * (length - _STEM) for length in (63, 127, 254, 998))
    return _forms("{u}", *(stem + last for stem in stems for last in ("aa", "ab", "ba")))


_STEM = len(Tag("0" * 12).fill("{u}"))

FAMILIES = (
    Family("ordinary", _forms("{u}:a", "{u}:b", "{u}:c")),
    Family("case", _forms("{u}Twin", "{u}twin", "{u}TWIN", "{u}tWIN")),
    Family(
        "padding",
        _forms("{u}", " {u}", "{u} ", "{u}  ", "\t{u}", "{u}\n", "{u}\u00a0", "\u3000{u}"),
    ),
    Family("prefixes", _forms("{u}x", "{u}x1", "{u}x10", "{u}x1:a", "1{u}x", "10{u}x")),
    Family("accents", _forms("{u}é", "{u}e\u0301", "{u}e", "{u}Å", "{u}\u212b", "{u}A\u030a")),
    Family("widths", _forms("{u}u1", "{u}ｕ１", "{u}u¹", "{u}fi", "{u}ﬁ", "{u}①", "{u}1")),
    Family("invisible", _forms("{u}u1", "{u}u\u200b1", "{u}u\u00ad1", "{u}\ufeffu1")),
    Family("letters", _forms("{u}I", "{u}i", "{u}ı", "{u}İ", "{u}ß", "{u}ss", "{u}a", "{u}а")),
    Family(
        "separators",
        _forms("{u}a:b", "{u}a_b", "{u}a-b", "{u}a.b", "{u}a/b", "{u}a b", "{u}a%3Ab", "{u}a%20b"),
    ),
    Family(
        "paths",
        _forms("{t}", "./{t}", "../{t}", "x/../{t}", "{t}/", "{t}/.", "run2/{t}", "..\\{t}"),
    ),
    Family("runs", _forms("eval:{t}A:conv-{n}", "eval:{t}B:conv-{n}", "{t}:conv-{n}", "conv-{n}")),
    Family(
        "wildcards",
        (*_forms("{u}a", "{u}b"), *_asked(("*", "%", "?", ".*", "{u}*", "{u}%", "{u}_", "{u}?"))),
    ),
    Family(
        "queries",
        (
            *_forms("{u}a", "{u}b"),
            *_asked(("{u}' OR '1'='1", "' OR 1=1 --", '{"$ne": null}', '{"$gt": ""}')),
            *_asked(("*) OR user_id:(*", "user_id:[* TO *]", "a} | @user_id:{eval")),
        ),
    ),
    Family("long", _long()),
    Family("scripts", _forms("{u}张伟", "{u}張偉", "{u}李娜", "{u}さくら", "{u}__", "{u}")),
    Family("emoji", _forms("{u}😀", "{u}😁", "{u}👍", "{u}👍🏽", "{u}?", "{u}\ufffd", "{u}")),
    Family(
        "coerced",
        (
            *_forms("{n}", "0{n}", "{n}.0", "{n}e0", "+{n}", "[{n}]", '"{n}"'),
            Form("{n}", stored=False, raw=True),
            Form("[{n}]", raw=True),
            Form("null", stored=False, raw=True),
        ),
    ),
    Family("controls", _forms("{u}", "{u}\x00", "{u}\x00x", "{u}\x1f", "{u}\x7f")),
    Family(
        "aliases",
        _forms("{u}:a", "{u}:b"),
        aliases=("userId", "user", "USER_ID", "userid"),
    ),
    *(
        Family(
            f"joined by {joint!r}",
            _forms("{u}", f"{{u}}{joint}a"),
            requests=("b", f"a{joint}b"),
        )
        for joint in ("", ":", "/", "-")
    ),
)
"""What histories are made of; a history has the ids of one family."""
