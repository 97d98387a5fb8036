"""A check in a thread: whoever stops it leaves no connection half closed."""

import asyncio

import pytest

from aml_contract.checking.background import BackgroundCheck
from tests.kit.rules import made


class Closing:
    """A check that gives its results and then takes a while to close what it opened."""

    def __init__(self, results):
        self.rules = [made(None, name="t/one"), made(None, name="t/two")]
        self.unreachable = None
        self.ended = ""
        self._results = results

    async def execute(self):
        for rule in self.rules[: self._results]:
            self.view.rule_finished(rule, "a result")
        try:
            await asyncio.sleep(0.3)
            self.ended = "closed"
        except asyncio.CancelledError:
            self.ended = "cancelled"
            raise


@pytest.mark.parametrize(("results", "ended"), [(1, "cancelled"), (2, "closed")])
def test_only_a_check_without_all_its_results_is_cancelled(results, ended):
    check = Closing(results)
    background = BackgroundCheck(check)
    background.start()
    assert background.result("t/one") == "a result"
    if results == 2:
        assert background.result("t/two") == "a result"
    background.stop()
    assert check.ended == ended
