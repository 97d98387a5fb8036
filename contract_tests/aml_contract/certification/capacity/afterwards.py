"""Afterwards, when nothing else is in flight: what was not found, what was refused.

A Search that shows a canary late tells late from lost. One that misses it may have ranked
it too low: before anything is called lost, it is asked for by its own words, and a thousand
items deep.
"""

from __future__ import annotations

import asyncio

from aml_contract.body import dump
from aml_contract.certification.capacity.record import Kept, Record
from aml_contract.certification.capacity.sending import DiedError, Sender
from aml_contract.certification.capacity.tally import NO_ANSWER
from aml_contract.smoke.answers import ContractBrokenError, contents
from aml_contract.smoke.run import TOP_K

MOST = 50
"""Missing Adds that are looked for again; one that is lost is enough to judge."""
_LATER = 3.0
"""Seconds to wait before."""
_DEEP = 1_000
"""Items that every memory accepts to be asked for (clause S3)."""


async def look_again(sender: Sender, record: Record, *, verbatim: bool) -> None:
    """Look once more for what the last Search did not show."""
    missing = [kept for kept in record.kept if kept.looked and not kept.found]
    if missing:
        await asyncio.sleep(_LATER * sender.patience)
    for kept in missing[:MOST]:
        ways = ((kept.canary.query, TOP_K), (kept.canary.text, TOP_K), (kept.canary.text, _DEEP))
        for number, (query, top_k) in enumerate(ways):
            shown = await _shows(sender, kept, query, top_k, verbatim=verbatim)
            if shown is None:
                return
            if number == 0:
                kept.seen(shown=shown)
            if shown:
                kept.found, kept.words = True, number > 0
                break
        kept.lost = not kept.found


async def ask_calmly(sender: Sender, record: Record) -> None:
    """Send again what was refused for good: whether it was the load that was refused."""
    if record.refused is None:
        return
    operation, body = record.refused
    first = next(trouble for trouble in record.troubles if trouble.kind == "refused")
    try:
        sent = await sender.send(operation, body, asyncio.get_running_loop().time())
    except DiedError as error:
        first.calm = record.redact(str(error))
    else:
        first.calm = str(sent.exchange.status or NO_ANSWER)


async def _shows(
    sender: Sender, kept: Kept, query: str, top_k: int, *, verbatim: bool
) -> bool | None:
    """Whether the canary comes back; ``None`` if no answer tells."""
    body = {"query": query, "user_id": kept.user_id, "top_k": top_k}
    try:
        sent = await sender.send("search", dump(body), asyncio.get_running_loop().time())
        texts = contents(sent.exchange, sent.tries, top_k)
    except (ContractBrokenError, DiedError):
        return None
    return bool(kept.canary.shown_by(texts, verbatim=verbatim))
