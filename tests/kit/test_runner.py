import asyncio
from dataclasses import replace

import pytest

from aml_contract.checking import runner
from aml_contract.checking.result import Recorder
from aml_contract.checking.runner import Runner, run_rules
from aml_contract.endpoint.auth import Auth, Scheme
from aml_contract.endpoint.http import open_endpoint
from aml_contract.endpoint.target import Target
from aml_contract.exchange import Exchange
from aml_contract.finding import NotApplicable, NotTested, Violation
from aml_contract.outcome import Level, Outcome
from aml_contract.rule import Capability, Cost, Need
from aml_contract.run import Run
from tests.kit.conftest import command
from tests.kit.rules import made


def outcomes(rules, *switches, target=None, **how):
    """Outcome and message of each rule on a managed subject."""

    async def main():
        given = target or Target(cmd=command(*switches), concurrency=how.pop("concurrency", 16))
        async with open_endpoint(given) as endpoint:
            run = Run(1, "salt", patience=0.01, **how.pop("run", {}))
            found = await run_rules(endpoint, rules, run, **how)
            return {result.rule: result for result in found}

    return asyncio.run(main())


async def good(trial):
    await trial.add(trial.ns.user(), "hello")


async def bad(trial):
    sent = await trial.send_add({"what": "ever"})
    raise Violation("it is broken", sent)


def test_what_is_put_off_over_a_raw_connection_is_no_finding():
    async def over_raw(trial):
        async with trial.raw("add") as connection:
            sent = await connection.send("add", b"{}")
        trial.require(sent.status == 200, f"it was answered {sent.summary}", sent)

    rules = [
        made(over_raw, level, name=f"test/{level.lower()}", transport="raw")
        for level in (Level.MUST, Level.SHOULD)
    ]
    for result in outcomes(rules, "busy").values():
        assert result.outcome is Outcome.NOT_TESTED
        assert result.message.startswith("the endpoint was too busy to say (429)")
        assert result.exchanges


def test_what_leaves_a_rule_becomes_its_outcome():
    async def broken(trial):
        raise KeyError("oops")

    async def grouped(trial):
        async with asyncio.TaskGroup() as group:
            group.create_task(bad(trial))

    async def grouped_with_a_bug(trial):
        async with asyncio.TaskGroup() as group:
            group.create_task(bad(trial))
            group.create_task(broken(trial))

    async def warned(trial):
        trial.warn("a risk")

    async def skipped(trial):
        raise NotApplicable("not for you")

    async def untried(trial):
        raise NotTested("no way")

    found = outcomes(
        [
            made(good, name="t/good"),
            made(bad, name="t/bad"),
            made(bad, name="t/should", level=Level.SHOULD),
            made(bad, name="t/may", level=Level.MAY),
            made(broken, name="t/broken"),
            made(grouped, name="t/grouped"),
            made(grouped_with_a_bug, name="t/grouped-bug"),
            made(warned, name="t/warned"),
            made(skipped, name="t/skipped"),
            made(untried, name="t/untried"),
        ]
    )
    assert {name: result.outcome for name, result in found.items()} == {
        "t/good": Outcome.PASSED,
        "t/bad": Outcome.FAILED,
        "t/should": Outcome.WARNED,
        "t/may": Outcome.WARNED,
        "t/broken": Outcome.KIT_ERROR,
        "t/grouped": Outcome.FAILED,
        "t/grouped-bug": Outcome.KIT_ERROR,
        "t/warned": Outcome.WARNED,
        "t/skipped": Outcome.NOT_APPLICABLE,
        "t/untried": Outcome.NOT_TESTED,
    }
    assert found["t/bad"].message == "it is broken"
    assert [made.status for made in found["t/bad"].exchanges] == [500]
    assert "not the endpoint" in found["t/broken"].message


def test_strict_makes_a_broken_should_fail():
    rules = [
        made(bad, name="t/should", level=Level.SHOULD),
        made(bad, name="t/may", level=Level.MAY),
    ]
    found = outcomes(rules, strict=True)
    assert found["t/should"].outcome is Outcome.FAILED
    assert found["t/may"].outcome is Outcome.WARNED


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_requests_at_once_than_declared(serve, concurrency):
    served = serve("slow")

    async def many(trial):
        await asyncio.gather(*(trial.add(trial.ns.user(), "hello") for _ in range(4)))

    target = Target(url=served.url, concurrency=concurrency)
    found = outcomes([made(many) for _ in range(3)], target=target)
    assert {result.outcome for result in found.values()} == {Outcome.PASSED}
    assert served.stats()["most"] - 1 <= concurrency  # the stats request is one of them
    assert served.stats()["adds"] == 12


def test_exclusive_rules_run_alone_and_last_ones_last():
    running, seen = set(), []

    def recorded(name, **more):
        async def check(trial):
            running.add(name)
            await trial.add(trial.ns.user(), "hello")
            await asyncio.sleep(0.05)
            seen.append((name, set(running)))
            running.discard(name)

        return made(check, name=name, **more)

    outcomes(
        [
            recorded("t/judge", last=True),
            recorded("t/alone", exclusive=True),
            recorded("t/short", cost=Cost(1)),
            recorded("t/long", cost=Cost(9)),
        ]
    )
    order = [name for name, _ in seen]
    assert set(order[:2]) == {"t/short", "t/long"}
    assert order[2:] == ["t/alone", "t/judge"]
    assert dict(seen)["t/alone"] == {"t/alone"}
    assert any(beside == {"t/short", "t/long"} for _, beside in seen)


def test_long_rules_start_first():
    started = []

    def recorded(name, adds):
        async def check(trial):
            started.append(name)
            await trial.add(trial.ns.user(), "hello")

        return made(check, name=name, cost=Cost(adds))

    rules = [recorded("t/a", 1), recorded("t/b", 50), recorded("t/c", 7)]
    outcomes([*rules, replace(recorded("t/d", 1), waits=True)], concurrency=1)
    assert started == ["t/d", "t/b", "t/c", "t/a"]  # the time that it waits is used by others


def test_a_rule_that_waits_leaves_its_place_to_the_next():
    done = asyncio.Event()

    async def waits(trial):
        await trial.add(trial.ns.user(), "hello")
        await done.wait()

    async def frees(trial):
        await trial.add(trial.ns.user(), "hello")
        done.set()

    rules = [made(waits, name="t/long", cost=Cost(9)), made(frees, name="t/short")]
    found = outcomes(rules, concurrency=1)
    assert {result.outcome for result in found.values()} == {Outcome.PASSED}


def test_the_longer_rule_is_served_first_wherever_both_wait():
    sent = []

    def serial(name, adds):
        async def check(trial):
            for _ in range(adds):
                await trial.add(trial.ns.user(), "hello")
                sent.append(name)

        return made(check, name=name, cost=Cost(adds))

    async def many(trial):
        await trial.together(*(trial.add(trial.ns.user(), "hello") for _ in range(3)))
        sent.extend(["t/many"] * 3)

    rules = [serial("t/long", 6), made(many, name="t/many", cost=Cost(3)), serial("t/short", 1)]
    outcomes(rules, "slow", concurrency=2)
    last = len(sent) - 1 - sent[::-1].index("t/long")
    assert sent[last + 1 :].count("t/many") < 3  # six Adds of 12 places: it was not held up
    assert sent.index("t/short") > sent.index("t/many")


def test_what_is_missing_is_said_before_anything_is_sent(serve):
    served = serve()
    found = outcomes(
        [
            made(good, name="t/kill", needs=frozenset({Need.KILL})),
            made(good, name="t/restart", needs=frozenset({Need.RESTART})),
            made(good, name="t/auth", capabilities=frozenset({Capability.AUTH})),
            made(good, name="t/verbatim", capabilities=frozenset({Capability.VERBATIM})),
        ],
        target=Target(url=served.url),
        run={"capabilities": frozenset()},
    )
    assert found["t/kill"].outcome is found["t/restart"].outcome is Outcome.NOT_TESTED
    assert "--restart-cmd" in found["t/restart"].message
    assert "--restart-cmd" not in found["t/kill"].message
    assert found["t/auth"].outcome is found["t/verbatim"].outcome is Outcome.NOT_APPLICABLE
    assert "--auth" in found["t/auth"].message
    assert served.stats()["adds"] == 0


def test_an_operators_command_restarts_but_does_not_kill(serve, tmp_path):
    served, marker = serve(), tmp_path / "restarted"

    async def restarts(trial):
        await trial.endpoint.process.restart()
        assert marker.exists()

    found = outcomes(
        [
            made(restarts, name="t/restart", needs=frozenset({Need.RESTART}), exclusive=True),
            made(good, name="t/kill", needs=frozenset({Need.KILL}), exclusive=True),
        ],
        target=Target(url=served.url, restart_cmd=f"touch {marker}"),
    )
    assert found["t/restart"].outcome is Outcome.PASSED
    assert found["t/kill"].outcome is Outcome.NOT_TESTED


def test_a_failing_restart_command_is_not_blamed_on_the_endpoint(serve):
    async def restarts(trial):
        await trial.endpoint.process.restart()

    found = outcomes(
        [made(restarts, name="t/restart", needs=frozenset({Need.RESTART}))],
        target=Target(url=serve().url, restart_cmd="echo no such host; exit 3"),
    )
    assert found["t/restart"].outcome is Outcome.NOT_TESTED
    assert "no such host" in found["t/restart"].message


def test_a_rule_that_leaves_the_server_dead_does_not_hurt_the_next():
    async def kills(trial):
        await trial.endpoint.process.kill()

    found = outcomes(
        [
            made(kills, name="t/a", exclusive=True, cost=Cost(9), needs=frozenset({Need.KILL})),
            made(good, name="t/b", exclusive=True),
        ]
    )
    assert found["t/b"].outcome is Outcome.PASSED


def test_a_server_that_dies_by_itself_is_named_and_ends_the_testing():
    async def ten(trial):
        for _ in range(10):
            await trial.add(trial.ns.user(), "hello")

    rules = [made(ten, name="t/a", cost=Cost(10)), made(good, name="t/b")]
    found = outcomes(rules, "crash", concurrency=1)
    assert found["t/a"].outcome is found["t/b"].outcome is Outcome.NOT_TESTED
    assert "exited with 7" in found["t/b"].message
    assert "out of memory, good bye" in found["t/b"].message


def test_rules_not_started_in_time_are_not_tested():
    async def three(trial):
        for _ in range(3):
            await trial.add(trial.ns.user(), "hello")

    rules = [made(three, name="t/a", cost=Cost(9)), made(good, name="t/b")]
    found = outcomes(rules, "slow", concurrency=1, budget=0.2)
    assert found["t/a"].outcome is Outcome.PASSED
    assert found["t/b"].outcome is Outcome.NOT_TESTED
    assert "0.2 s" in found["t/b"].message


def test_a_rule_that_outlasts_the_time_budget_is_cut_off(monkeypatch):
    async def endless(trial):
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(600))

    monkeypatch.setattr(runner, "GRACE", 0.2)
    monkeypatch.setattr(runner, "_AT_LEAST", 0.1)
    found = outcomes([made(endless, name="t/a"), made(endless, name="t/z", last=True)], budget=0.1)
    for result in found.values():
        assert result.outcome is Outcome.NOT_TESTED
        assert "0.1 s was used up while it was being tried" in result.message


def test_a_bug_inside_a_group_is_named():
    async def broken(trial):
        async with asyncio.TaskGroup() as group:
            group.create_task(bad(trial))
            raise KeyError("oops")

    (result,) = outcomes([made(broken)]).values()
    assert result.outcome is Outcome.KIT_ERROR
    assert "KeyError: 'oops'" in result.message


def test_a_disk_that_is_full_costs_the_body_file_and_not_the_run(tmp_path):
    (tmp_path / "bodies").write_text("a file where a directory should be")

    async def large(trial):
        raise Violation("broken", await trial.send_add({"what": "x" * 10_000}))

    recorder = Recorder(directory=tmp_path / "bodies")

    async def main():
        async with open_endpoint(Target(cmd=command())) as endpoint:
            made_by = Runner(endpoint, Run(1, "salt"), recorder=recorder)
            return await made_by.try_all([made(large)])

    (result,) = asyncio.run(main())
    assert result.outcome is Outcome.FAILED


def test_a_key_is_never_cut_in_two_where_a_body_is_shortened():
    key = "canary-" + "k" * 40
    exchange = Exchange(
        *("add", "POST", "http://x/add", {}, b"", 200, {}),
        *(b"x" * 3_980 + key.encode() + b"x" * 100, 0.0, 0.0),
    )
    record = Recorder(Auth(Scheme.BEARER, key)).record(exchange)
    assert "canary" not in record.model_dump_json()


def test_cancelling_ends_the_server():
    async def main():
        async def waits(trial):
            await trial.add(trial.ns.user(), "hello")
            started.set()
            await asyncio.sleep(600)

        async def body():
            async with open_endpoint(Target(cmd=command())) as endpoint:
                processes.append(endpoint.process)
                await Runner(endpoint, Run(1, "salt")).try_all([made(waits)])

        started, processes = asyncio.Event(), []
        task = asyncio.create_task(body())
        await started.wait()
        port = processes[0].port
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)

    asyncio.run(main())
