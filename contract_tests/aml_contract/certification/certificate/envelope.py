"""The envelope: DSSE, read as strictly as a signed thing must be."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, NoReturn

from securesystemslib.dsse import Envelope
from securesystemslib.signer import Signer

from aml_contract.certification.certificate.refusal import Reason, RefusedError

PAYLOAD_TYPE = "application/vnd.in-toto+json"
MOST_BYTES = 32 * 1024 * 1024
"""Of a certificate; larger ones are neither made nor read."""

_GET_AGAIN = "get it again from whoever issued it"


def sealed(payload: bytes, signers: Sequence[Signer]) -> bytes:
    """The payload in an envelope with a signature of each signer, as JSON."""
    envelope = Envelope(payload, PAYLOAD_TYPE, {})
    for signer in signers:
        envelope.sign(signer)
    return (json.dumps(envelope.to_dict(), indent=2) + "\n").encode()


def opened(data: bytes) -> Envelope:
    """Read an envelope; nothing in it is believed yet.

    Raises:
        RefusedError: it is too large, or no envelope.
    """
    if len(data) > MOST_BYTES:
        raise RefusedError(
            Reason.TOO_LARGE,
            f"it has more than {MOST_BYTES // 1024**2} MiB, which no certificate has",
            _GET_AGAIN,
        )
    document = strict_json(data, "the envelope")
    try:
        envelope = Envelope.from_dict(document)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        malformed(f"it is no DSSE envelope: {_words(error)}")
    if not isinstance(envelope.payload_type, str):
        malformed("it is no DSSE envelope: payloadType is no text")
    return envelope


def strict_json(data: bytes, what: str) -> Any:
    """JSON that has one meaning only: UTF-8, no name twice in an object, every number finite.

    Raises:
        RefusedError: it is none.
    """
    try:
        found = json.loads(
            data.decode(),
            object_pairs_hook=_no_name_twice,
            parse_constant=_no_number,
            parse_float=_finite,
        )
        json.dumps(found, ensure_ascii=False).encode()  # no half of a surrogate pair in it
    except RecursionError:
        malformed(f"{what} is nested deeper than anything that the kit writes")
    except UnicodeError:
        malformed(f"{what} is no UTF-8 text")
    except ValueError as error:
        malformed(f"{what} is no JSON that can be believed: {_words(error)}")
    return found


def check_type(what: str, found: object, known: str) -> None:
    """Refuse what says to be something else than a certificate of this form.

    Raises:
        RefusedError: it does.
    """
    if found != known:
        raise RefusedError(
            Reason.UNKNOWN_TYPE,
            f"its {what} is {str(found)[:80]!r}, not {known!r}",
            "it is no certificate of an endpoint, or one for a newer kit",
        )


def malformed(sentence: str, fix: str = _GET_AGAIN) -> NoReturn:
    """Refuse what cannot be read.

    Raises:
        RefusedError: always.
    """
    raise RefusedError(Reason.MALFORMED, sentence, fix)


def _no_name_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the name {twice[:40]!r} stands twice in one object")
    return made


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number in JSON")


def _finite(word: str) -> float:
    number = float(word)
    if number in (float("inf"), float("-inf")):
        raise ValueError("a number is too large")
    return number


def _words(error: Exception) -> str:
    """What a library says, if it is short; it may repeat what it read."""
    missing = isinstance(error, KeyError)
    return f"{error} is missing" if missing else str(error).partition("\n")[0][:120]
