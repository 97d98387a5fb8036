"""Health answers whatever else goes on."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.sdk.systems import Async, Recorded


@pytest.mark.parametrize("kind", [Recorded, Async])
def test_health_answers_while_every_worker_is_busy(serve, kind):
    system = kind()
    system.go.clear()
    server = serve(system, add_workers=2)
    with ThreadPoolExecutor(4) as pool:
        adds = [pool.submit(server.add, "x", request_id=str(number)) for number in range(4)]
        for _ in range(2):
            assert system.entered.acquire(timeout=10)
        assert server.http.get("/health").status_code == 200
        assert server.search().status_code == 200  # nor do Searches wait behind Adds
        assert not any(add.done() for add in adds)
        system.go.set()
        assert {add.result().status_code for add in adds} == {200}


class Ill(Recorded):
    def __init__(self, verdict):
        super().__init__()
        self.verdict = verdict

    def health(self):
        if isinstance(self.verdict, Exception):
            raise self.verdict
        return self.verdict


class AsyncIll(Ill):
    async def health(self):
        return super().health()


class DeferredIll(Ill):
    def health(self):
        return self._later()

    async def _later(self):
        return super().health()


@pytest.mark.parametrize("kind", [Ill, AsyncIll, DeferredIll])
@pytest.mark.parametrize(("verdict", "status"), [(True, 200), (False, 503), (OSError("x"), 503)])
def test_health_is_what_the_system_says(serve, kind, verdict, status):
    answer = serve(kind(verdict)).http.get("/health")
    assert answer.status_code == status


def test_a_check_that_hangs_is_503_and_holds_one_thread(serve):
    class Hanging(Recorded):
        asked = 0
        back = threading.Event()

        def health(self):
            self.asked += 1
            self.back.wait(20)
            return True

    system = Hanging()
    server = serve(system, health_timeout=0.1)
    for _ in range(3):
        assert server.http.get("/health").status_code == 503
    assert system.asked == 1
    assert server.add("x").status_code == 200
    system.back.set()
    # The late answer counts no more: the next one is asked anew, or that one has just come.
    assert server.http.get("/health").status_code == 200
