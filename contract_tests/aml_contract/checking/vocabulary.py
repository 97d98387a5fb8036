"""Words that an error may show although the kit never sent them: technical ones.

An error's text is the server's own, and mostly what a builder needs first. But a server
may also quote what it keeps for others. So single words are shown if they are known to be
technical, and others are not: "database is locked" stays, a name does not.
"""

from __future__ import annotations

import builtins
import re
from functools import cache
from http import HTTPStatus

from aml_contract.rule import all_rules

_WORD = re.compile(r"[^\W\d_]+")
_CONTRACT = """
    id content score created_at data success request_id user_id session_id messages role
    timestamp query options top_k detail reason type text image_url url status ok healthy
"""
_SERVERS = """
    app attribute auth bad base broken busy cache chunk client closed code column connect
    connection constraint could crash cursor database db deadlock dict disk down driver
    embedding empty engine entry error errors exceeded exception failed failure fatal field file
    for from full host html http https index info input insert instance integer internal
    invalid is items json key keys length limit line list locked loc lookup mem memories memory
    message method missing model module msg must name network none not null object of on only
    operation operational out overloaded page parse path permission pool port postgres
    provider quota rate read redis refused reply required reset result results row sdk
    schema select server service session sql sqlite stack store string syntax system table the
    timed timeout to token traceback transaction try type unable unauthorized unavailable
    unexpected unique unknown unprocessable unsupported upstream user uuid valid validation value
    doc fact item mem msg node rec turn vector version violation was with write wrong
    body head title div span href style script
    class pre meta charset utf lang doctype should be have at least most greater less than equal
    extra inputs permitted decode unable parsing expected got found characters bytes boolean null
"""


@cache
def technical_words() -> frozenset[str]:
    """Words of HTTP, of the contract, of the rules' own texts and of common errors."""
    texts = [_CONTRACT, _SERVERS]
    texts += [status.phrase for status in HTTPStatus]
    texts += [_apart(name) for name in dir(builtins) if name[0].isupper()]
    for rule in all_rules():
        texts += [rule.title, rule.why, rule.fix]
    return frozenset(word.casefold() for text in texts for word in _WORD.findall(text))


def is_technical(word: str) -> bool:
    """Whether a word, ``snake_case`` and ``CamelCase`` taken apart, is made of known ones."""
    parts = _WORD.findall(_apart(word).replace("_", " "))
    return bool(parts) and all(part.casefold() in technical_words() for part in parts)


def _apart(word: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", word)
