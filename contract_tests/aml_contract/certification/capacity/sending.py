"""Sending as the platform does: again while the answer asks for it, and no sooner (F1, F2)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from aml_contract.certification.capacity.platform import MINUTE, Kind
from aml_contract.certification.capacity.tally import Tally
from aml_contract.endpoint.protocol import Endpoint
from aml_contract.endpoint.retry import send_again
from aml_contract.exchange import Exchange
from aml_contract.smoke.run import TRIES


class DiedError(Exception):
    """The server that the kit started has ended by itself; the message says how."""


@dataclass(frozen=True)
class Sent:
    """One Add or Search, with all the requests that it took."""

    exchange: Exchange
    """The last of them."""
    tries: int
    seconds: float
    """How long its requests took together, each from its intended start."""
    waited: float
    """How long the platform would have waited between them, in seconds."""
    answered: float
    """When the last was answered, by the event loop's clock."""


class Sender:
    """Sends to one endpoint and keeps the tallies.

    Args:
        endpoint: where to.
        tallies: one for each operation.
        patience: scales every wait.
    """

    def __init__(self, endpoint: Endpoint, tallies: Mapping[Kind, Tally], patience: float) -> None:
        self.endpoint = endpoint
        self.tallies = tallies
        self.patience = patience

    async def send(self, operation: Kind, body: bytes, intended: float) -> Sent:
        """Send until an answer comes that is no reason to send again.

        Args:
            operation: ``add`` or ``search``.
            body: the same each time.
            intended: when the platform would have sent it, by the event loop's clock.

        Raises:
            DiedError: no answer can come any more.
        """
        loop, tally = asyncio.get_running_loop(), self.tallies[operation]
        due = answered = intended
        tries, seconds, waited = 0, 0.0, 0.0

        async def once(attempt: int) -> Exchange:
            nonlocal tries, seconds, answered
            tries = attempt
            if attempt > 1:
                await asyncio.sleep(due - loop.time())
            begun = tally.begin(due)
            try:
                exchange = await self.endpoint.send(operation, body, fresh=attempt > 1)
            except asyncio.CancelledError:
                tally.cut_off(begun, loop.time())
                raise
            answered = loop.time()
            tally.end(begun, exchange, answered)
            seconds += answered - due
            process = self.endpoint.process
            if exchange.status is None and process and (died := process.died):
                raise DiedError(died.partition("\n")[0])
            return exchange

        def waiting(exchange: Exchange, _: int, pause: float) -> None:
            nonlocal due, waited
            if exchange.status == 429 and "retry-after" not in exchange.reply_headers:
                pause = max(pause, MINUTE * self.patience)
            due = loop.time() + pause
            waited += pause / self.patience if self.patience else 0.0

        exchange = await send_again(
            once, attempts=TRIES[operation], patience=self.patience, waiting=waiting
        )
        return Sent(exchange, tries, seconds, waited, answered)
