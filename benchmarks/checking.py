"""How long a whole check takes on a slow server, and how long it would have to take.

    python benchmarks/checking.py [--quick] [--only FAMILY_OR_RULE …] [--system hybrid]

The server of the tests, in a process of its own and durable, takes a second for each Add and
0.3 s for each Search; ``--add`` and ``--search`` say otherwise, ``--system`` checks a memory
instead. The wall time may be 1.3 times what no order of requests could beat::

    max(longest rule, slot-seconds / concurrency) + rules that run alone

Slot-seconds are those that the requests of rules side by side were in flight, added up. The
longest rule counts with the time in which a request of it was in flight: what it waited for
others is the kit's, not its own.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import sys
import time
from pathlib import Path
from typing import Any

import uvicorn

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from aml_contract.checking.check import Check, View, capabilities_of  # noqa: E402
from aml_contract.checking.result import RuleResult  # noqa: E402
from aml_contract.checking.selection import Means, select  # noqa: E402
from aml_contract.endpoint.target import Target  # noqa: E402
from aml_contract.latency import busy_seconds  # noqa: E402
from aml_contract.rule import Rule, all_rules  # noqa: E402
from aml_contract.run import Run, new_run_id  # noqa: E402
from tests.broken.correct import Correct  # noqa: E402

_FACTOR = 1.3
_SHOWN = 12


def serve(port: int, data: Path, delays: dict[str, float]) -> None:
    """The tests' correct server, each request late by what its path takes."""
    correct = Correct(data)

    async def late(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["method"] == "POST":
            await asyncio.sleep(delays.get(scope["path"], 0.0))
        await correct(scope, receive, send)

    uvicorn.run(late, port=port, **correct.uvicorn_settings())


class Watch(View):
    """Keeps every result."""

    def __init__(self) -> None:
        self.results: dict[str, RuleResult] = {}
        self.ready_at = 0.0

    def ready(self, endpoint: object) -> None:
        """The server is up: rules start now."""
        del endpoint
        self.ready_at = time.perf_counter()

    def rule_finished(self, rule: Rule, result: RuleResult) -> None:
        """Keep it."""
        self.results[rule.name] = result


def report(rules: list[Rule], run: Run, watch: Watch, wall: float, concurrency: int) -> None:
    """Print the ratio and what it is made of."""
    tried = [rule for rule in rules if run.by_rule.get(rule.name)]
    beside = [rule.name for rule in tried if not rule.exclusive and not rule.last]
    alone = [rule.name for rule in rules if rule.name not in beside and rule.name in watch.results]
    busy = {rule.name: busy_seconds(run.by_rule[rule.name]) for rule in tried}
    slots = sum(made.seconds for name in beside for made in run.by_rule[name])
    apart = sum(watch.results[name].seconds for name in alone)
    longest = max((busy[name] for name in beside), default=0.0)
    floor = max(longest, slots / concurrency) + apart
    print(f"{'side by side':42} busy  all   requests")
    for name in sorted(beside, key=lambda name: -busy[name])[:_SHOWN]:
        made = watch.results[name]
        print(f"  {name:38} {busy[name]:6.1f} {made.seconds:6.1f} {made.requests:5}")
    print("alone")
    for name in sorted(alone, key=lambda name: -watch.results[name].seconds)[:_SHOWN]:
        made = watch.results[name]
        print(f"  {name:38} {busy.get(name, 0.0):6.1f} {made.seconds:6.1f} {made.requests:5}")
    for name, made in watch.results.items():
        if made.outcome not in ("passed", "not_applicable"):
            print(f"{made.outcome:12} {name}: {made.message[:110]!r}")
    kit, server = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"longest {longest:.1f} s, slots {slots:.1f} s / {concurrency}, alone {apart:.1f} s")
    print(f"{len(watch.results)} rules, {len(run.exchanges)} requests")
    print(f"CPU: the kit {kit.ru_utime + kit.ru_stime:.1f} s, ", end="")
    print(f"the servers, start-up included, {server.ru_utime + server.ru_stime:.1f} s")
    print(f"memory of the kit: {kit.ru_maxrss / 1024:.0f} MiB at most")
    print(f"the endpoint's share {busy_seconds(run.exchanges) / wall:.0%}")
    print(f"wall {wall:.1f} s = {wall / floor:.2f} x {floor:.1f} s; at most {_FACTOR} wanted")


def main() -> None:
    """Check a slow server, or be one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--add", type=float, default=1.0, help="seconds of an Add")
    parser.add_argument("--search", type=float, default=0.3, help="seconds of a Search")
    parser.add_argument("--system", help="check this memory instead, as aml serve names it")
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--quick", action="store_true", help="what aml check --quick tries")
    parser.add_argument("--only", action="append", help="a family or rule; repeatable")
    parser.add_argument("--without", action="append", default=[], help="a rule to leave out")
    parser.add_argument("--serve", nargs=2, metavar=("PORT", "DIR"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    delays = {"/add": args.add, "/search": args.search}
    if args.serve:
        serve(int(args.serve[0]), Path(args.serve[1]), delays)
        return
    program = f"{Path(__file__).resolve()} --add {args.add} --search {args.search}"
    command = f"exec {sys.executable} {program} --serve {{port}} {{data}}"
    if args.system:  # as the kit would start it, but for exec: so its CPU time can be told
        program = f"aml_cli.main serve {args.system} --port {{port}} --data {{data}}"
        command = f"exec {sys.executable} -m {program}"
    target = Target(concurrency=args.concurrency, cmd=command)
    run_id = new_run_id()
    capabilities = capabilities_of(target, "textual", ())
    run = Run(seed=1, salt=run_id, quick=args.quick, capabilities=capabilities)
    selected = select(all_rules(), args.only or (), quick=args.quick)
    rules = [rule for rule in selected if rule.name not in args.without]
    watch = Watch()
    began = time.perf_counter()
    check = Check(target, rules, run, view=watch, run_id=run_id)
    asyncio.run(check.execute())
    ended = time.perf_counter()
    if check.unreachable:
        sys.exit(check.unreachable)
    able = [rule for rule in rules if Means.of(target, capabilities).obstacle(rule) is None]
    print(f"start-up {watch.ready_at - began:.1f} s, not counted below")
    report(able, run, watch, ended - watch.ready_at, args.concurrency)


if __name__ == "__main__":
    main()
