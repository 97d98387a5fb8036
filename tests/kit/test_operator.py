"""The operator's commands: whatever they do is never the endpoint's finding."""

import asyncio
import signal

import pytest

from aml_contract.endpoint.operator import Faults, run_command
from aml_contract.endpoint.target import Target
from aml_contract.finding import NotTested, Violation
from aml_contract.outcome import Outcome
from aml_contract.rule import Cost, Need, all_rules
from tests.broken.serving import judge, managed
from tests.kit.conftest import command
from tests.kit.rules import made
from tests.kit.test_runner import good, outcomes
from tests.servers import eventually

FAULT = frozenset({Need.FAULT})
RULES = {rule.name: rule for rule in all_rules()}


@pytest.fixture
def hooks(tmp_path):
    """Commands that write what they do, the file, and what it says."""
    log = tmp_path / "log"
    log.touch()

    def faults(fault="true", heal="true", **settings):
        return Faults(f"echo fault >> {log}; {fault}", f"echo heal >> {log}; {heal}", **settings)

    return faults, lambda: log.read_text().split()


async def leave_by(faults, way):
    async with faults.broken():
        await way()


@pytest.mark.parametrize("error", [Violation("found"), KeyError("a bug"), asyncio.CancelledError()])
def test_it_is_healed_on_every_way_out(hooks, error):
    faults, log = hooks

    async def way():
        raise error

    with pytest.raises(type(error)):
        asyncio.run(leave_by(faults(), way))
    assert log() == ["fault", "heal"]


def test_it_is_healed_when_the_fault_command_failed_half_way(hooks):
    faults, log = hooks
    with pytest.raises(NotTested, match=r"--fault-cmd exited with 3: no such container"):
        asyncio.run(leave_by(faults("echo no such container; exit 3"), asyncio.sleep))
    assert log() == ["fault", "heal"]


def test_it_is_healed_when_cancelled_while_it_is_being_broken(hooks):
    faults, log = hooks

    async def main():
        task = asyncio.create_task(leave_by(faults("sleep 600"), asyncio.sleep))
        await asyncio.to_thread(eventually, log)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())
    assert log() == ["fault", "heal"]


def test_a_finding_goes_before_a_failed_healing_which_ends_further_faults(hooks):
    faults, log = hooks
    made = faults(heal="exit 9")

    async def way():
        raise Violation("found")

    async def nothing():
        pass

    with pytest.raises(Violation):
        asyncio.run(leave_by(made, way))
    with pytest.raises(NotTested, match="may still be broken: --heal-cmd exited with 9"):
        asyncio.run(leave_by(made, nothing))
    assert log() == ["fault", "heal"]


def test_a_failed_healing_is_said(hooks):
    faults, _ = hooks

    async def nothing():
        pass

    with pytest.raises(NotTested, match="--heal-cmd exited with 9"):
        asyncio.run(leave_by(faults(heal="exit 9"), nothing))


def test_a_command_that_hangs_is_ended():
    with pytest.raises(NotTested, match=r"--restart-cmd did not end within 0.3 s: working"):
        asyncio.run(run_command("--restart-cmd", "echo working; sleep 600", longest=0.3))


def test_a_command_may_leave_a_server_behind():
    asyncio.run(run_command("--restart-cmd", "sleep 5 & echo started", longest=4))


def test_without_the_commands_nothing_is_broken(serve):
    found = outcomes([made(good, name="t/fault", needs=FAULT)], target=Target(url=serve().url))
    assert found["t/fault"].outcome is Outcome.NOT_APPLICABLE
    assert "--fault-cmd with --heal-cmd" in found["t/fault"].message


def test_a_fault_hook_alone_restarts_nothing(serve):
    target = Target(url=serve().url, fault_cmd="true", heal_cmd="true")
    found = outcomes([made(good, name="t/restart", needs=frozenset({Need.RESTART}))], target=target)
    assert found["t/restart"].outcome is Outcome.NOT_TESTED


def test_a_managed_servers_port_and_data_are_filled_in(tmp_path):
    ports = []

    async def looks(trial):
        async with trial.broken():
            ports.append((tmp_path / "broken").read_text().strip())
        assert not (tmp_path / "broken").exists()
        assert ports[0] == str(trial.endpoint.process.port)

    target = Target(
        cmd=command(),
        data_dir=tmp_path,
        fault_cmd="echo {port} > {data}/broken",
        heal_cmd="rm {data}/broken",
    )
    found = outcomes([made(looks, name="t/looks", needs=FAULT, exclusive=True)], target=target)
    assert found["t/looks"].outcome is Outcome.PASSED, found["t/looks"].message


def test_rules_that_break_things_come_after_all_others(tmp_path):
    order = []

    def recorded(name, **more):
        async def check(trial):
            order.append(name)

        return made(check, name=name, exclusive=True, **more)

    outcomes(
        [
            recorded("t/fault", needs=FAULT, cost=Cost(99)),
            recorded("t/other", cost=Cost(1)),
            made(good, name="t/first"),
        ],
        target=Target(cmd=command(), fault_cmd="true", heal_cmd="true"),
    )
    assert order == ["t/other", "t/fault"]


def test_a_fault_without_effect_blames_nobody():
    target = managed("Correct") | {"fault_cmd": "true", "heal_cmd": "true"}
    found = judge([rule for rule in RULES.values() if Need.FAULT in rule.needs], **target)
    assert {result.outcome for result in found.values()} == {Outcome.NOT_TESTED}
    assert all("the fault command had no effect" in r.message for r in found.values())


def test_what_cannot_be_healed_blames_nobody():
    target = managed("Correct") | {"heal_cmd": "true"}
    names = ("repeats/after-failure", "errors/store-fault-search", "structure/legal-requests")
    found = judge([RULES[name] for name in names], **target)
    assert found.pop("structure/legal-requests").outcome is Outcome.PASSED
    messages = [result.message for result in found.values()]
    assert {result.outcome for result in found.values()} == {Outcome.NOT_TESTED}
    assert sum("after --heal-cmd the endpoint did not work again" in m for m in messages) == 2
    assert sum("may still be broken" in m for m in messages) == 1


def test_a_finding_says_that_the_fault_belongs_to_it():
    found = judge([RULES["errors/store-fault-add"]], **managed("BlamesTheClient"))
    assert "--fault-cmd before" in found["errors/store-fault-add"].notes[0]


BREAKING = ("touch {broken}; sleep 600", "rm {broken}")
HEALING = ("touch {broken}", "test -e {again} || {{ touch {again}; sleep 600; }}; rm {broken}")


@pytest.mark.parametrize(("fault", "heal"), [BREAKING, HEALING], ids=["breaking", "healing"])
def test_ctrl_c_heals(aml_started, tmp_path, fault, heal):
    """Also when it cuts the healing off, which is then done again."""
    paths = {"broken": tmp_path / "broken", "again": tmp_path / "again"}
    child = aml_started(
        "check",
        "--cmd",
        managed("Correct")["cmd"],
        "--only",
        "repeats/after-failure",
        "--fault-cmd",
        fault.format(**paths),
        "--heal-cmd",
        heal.format(**paths),
    )
    eventually(paths["broken" if fault is BREAKING[0] else "again"].exists)
    child.send_signal(signal.SIGINT)
    assert child.wait(60) == 130
    assert not paths["broken"].exists()
