"""A check in a thread of its own, for callers that are not asynchronous."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from concurrent.futures import Future

from aml_contract.checking.check import Check, View
from aml_contract.checking.result import RuleResult
from aml_contract.endpoint.http import Unreachable
from aml_contract.rule import Rule


class BackgroundCheck(View):
    """Runs a check in a thread; each rule's result can be awaited on its own."""

    def __init__(self, check: Check) -> None:
        self.check = check
        check.view = self
        self._results: dict[str, Future[RuleResult]] = {rule.name: Future() for rule in check.rules}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._running = threading.Event()
        """Set once loop and task are there to be stopped, or never will be."""
        self._thread = threading.Thread(target=self._work, name="aml-check", daemon=True)

    def start(self) -> None:
        """Start the check."""
        self._thread.start()

    def result(self, rule: str) -> RuleResult:
        """Wait for a rule's result.

        Raises:
            Unreachable: nothing answers.
            Exception: whatever ended the check before the rule came to its result.
        """
        return self._results[rule].result()

    def stop(self) -> None:
        """End the check, if it still runs, and wait until its server is gone."""
        if not self._thread.is_alive():
            return
        self._running.wait()
        # With every result there it is closing its connections, which wants no interruption.
        closing = all(waiting.done() for waiting in self._results.values())
        if not closing and self._loop is not None and self._task is not None:
            with contextlib.suppress(RuntimeError):  # it ended, and closed its loop, by itself
                self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()

    def rule_finished(self, rule: Rule, result: RuleResult) -> None:
        """Hand the result to whoever waits for it."""
        self._results[rule.name].set_result(result)

    def _work(self) -> None:
        try:
            asyncio.run(self._main())
            words = self.check.unreachable
            self._give_up(Unreachable(words) if words else RuntimeError("the check has ended"))
        except asyncio.CancelledError:
            self._give_up(RuntimeError("the check was stopped"))
        except Exception as error:  # noqa: BLE001  it is raised where it is waited for
            self._give_up(error)
        finally:
            self._running.set()
            self._give_up(RuntimeError("the check ended without a result"))  # a SystemExit, say

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self.check.execute())
        self._running.set()
        await self._task

    def _give_up(self, error: Exception) -> None:
        for waiting in self._results.values():
            if not waiting.done():
                waiting.set_exception(error)
