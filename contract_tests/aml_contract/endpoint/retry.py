"""Sending again: what the platform does with an answer that may be retried (clause F1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tenacity import AsyncRetrying, RetryCallState, retry_if_result
from tenacity.stop import stop_base
from tenacity.wait import wait_base, wait_exponential

from aml_contract.exchange import Exchange

LONGEST_WAIT = 60
"""Seconds up to which ``Retry-After`` is honoured."""
PUT_OFF_ATTEMPTS = 32
"""Tries of what is put off by 429 with Retry-After: as many as the platform makes of an Add."""
PUT_OFF_SECONDS = 60.0
"""How long they may go on."""
_DIGITS = 10

Waiting = Callable[[Exchange, int, float], None]
"""Told before each wait: the answer, how often it was tried, the seconds to wait."""


async def send_again(
    once: Callable[[int], Awaitable[Exchange]],
    *,
    attempts: int,
    patience: float = 1.0,
    heed: bool = False,
    waiting: Waiting | None = None,
) -> Exchange:
    """Send until an answer comes that is no reason to send again.

    Args:
        once: sends the request once; is given the number of the try, from 1.
        attempts: tries at most.
        patience: scales every wait.
        heed: whether a 429 with ``Retry-After`` is no failed try: such a request is sent up to
            :data:`PUT_OFF_ATTEMPTS` times, as long as that takes :data:`PUT_OFF_SECONDS`.
        waiting: told before each wait.

    Returns:
        The last exchange, good or bad.
    """
    tries = 0

    async def counted() -> Exchange:
        nonlocal tries
        tries += 1
        return await once(tries)

    def tell(state: RetryCallState) -> None:
        if waiting and state.outcome and state.next_action:
            waiting(state.outcome.result(), state.attempt_number, state.next_action.sleep)

    retrying = AsyncRetrying(
        retry=retry_if_result(lambda made: made.status != 200 and made.retryable),
        stop=_Enough(attempts, PUT_OFF_SECONDS * patience if heed else 0.0),
        wait=_RetryAfter(patience),
        before_sleep=tell,
        retry_error_callback=lambda state: state.outcome and state.outcome.result(),
    )
    exchange: Exchange = await retrying(counted)
    return exchange


class _Enough(stop_base):
    """After so many tries that failed; what is only put off has longer, and is no failure."""

    def __init__(self, attempts: int, seconds: float) -> None:
        self._attempts = attempts
        self._seconds = seconds
        self._put_off = 0

    def __call__(self, retry_state: RetryCallState) -> bool:
        tries, waited = retry_state.attempt_number, retry_state.seconds_since_start or 0.0
        if self._seconds and retry_state.outcome and _put_off(retry_state.outcome.result()):
            self._put_off += 1
            over = self._put_off >= PUT_OFF_ATTEMPTS or waited >= self._seconds
            return over and tries >= self._attempts
        return tries - self._put_off >= self._attempts


def _put_off(exchange: Exchange) -> bool:
    return exchange.status == 429 and "retry-after" in exchange.reply_headers


class _RetryAfter(wait_base):
    """Honours Retry-After up to 60 s, else backs off exponentially."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._backoff = wait_exponential(multiplier=0.25 * patience, max=4 * patience)

    def __call__(self, retry_state: RetryCallState) -> float:
        if retry_state.outcome is None:  # tenacity's type allows it; it never happens
            return 0.0
        exchange: Exchange = retry_state.outcome.result()
        asked = exchange.reply_headers.get("retry-after", "")
        if asked.isascii() and asked.isdigit():
            # Of a longer number Python makes no integer.
            seconds = int(asked) if len(asked) < _DIGITS else LONGEST_WAIT
            return min(seconds, LONGEST_WAIT) * self._patience
        return float(self._backoff(retry_state))
