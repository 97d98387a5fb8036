"""Sending to an endpoint: requests are made, sent again and read as the platform does it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aml_contract.body import dump
from aml_contract.endpoint.protocol import Endpoint
from aml_contract.endpoint.retry import send_again
from aml_contract.exchange import Exchange, Operation
from aml_contract.probe.reply import Item, item_of
from aml_contract.smoke import answers
from aml_contract.smoke.run import TRIES


class Remote:
    """The memory behind an endpoint.

    Args:
        endpoint: what is probed.
        patience: scales the waits between tries.
        waiting: told why a request will be sent again, and when.
    """

    def __init__(
        self, endpoint: Endpoint, *, patience: float, waiting: Callable[[str], None]
    ) -> None:
        self._endpoint, self._patience, self._waiting = endpoint, patience, waiting
        self.seconds: dict[Operation, list[float]] = {"add": [], "search": []}
        """How long each request took that was answered well."""
        self.retries = 0

    async def add(self, body: dict[str, Any]) -> None:
        """Send an Add.

        Raises:
            ContractBrokenError: an answer that would end the platform's stage.
        """
        exchange, tries = await self._send("add", body)
        answers.check_add(exchange, tries, body)
        self.seconds["add"].append(exchange.seconds)

    async def search(self, body: dict[str, Any]) -> Sequence[Item]:
        """Send a Search; what came back.

        Raises:
            ContractBrokenError: an answer that would end the platform's stage.
        """
        exchange, tries = await self._send("search", body)
        answers.contents(exchange, tries, body["top_k"])
        self.seconds["search"].append(exchange.seconds)
        return [item_of(raw) for raw in exchange.json["data"]]

    async def _send(self, operation: Operation, body: dict[str, Any]) -> tuple[Exchange, int]:
        data, tries = dump(body), 0

        async def once(attempt: int) -> Exchange:
            nonlocal tries
            tries = attempt
            exchange = await self._endpoint.send(operation, data, fresh=attempt > 1)
            process = self._endpoint.process
            if exchange.status is None and process and (died := process.died):
                raise answers.ContractBrokenError(died, "F3", exchange)
            return exchange

        def waiting(exchange: Exchange, attempt: int, seconds: float) -> None:
            self.retries += 1
            self._waiting(
                f"{operation.capitalize()}: {exchange.summary}; "
                f"try {attempt + 1} of {TRIES[operation]} in {seconds:.1f} s"
            )

        exchange = await send_again(
            once, attempts=TRIES[operation], patience=self._patience, waiting=waiting
        )
        return exchange, tries
