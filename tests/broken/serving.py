"""Puts a server on a real socket and rules on it, in one process or in two."""

import asyncio
import sys
import time
from pathlib import Path

from aml_contract.checking.runner import run_rules
from aml_contract.endpoint.auth import Scheme
from aml_contract.endpoint.http import open_endpoint
from aml_contract.endpoint.target import Target
from aml_contract.rule import Capability
from aml_contract.run import Run

ROOT = Path(__file__).parents[2]
KEY = "k-7b1e94c2"
PATIENCE = 0.1
"""Waits of the kit are a tenth of what a stranger is given."""
FUZZ_BUDGET = 6.0
"""Seconds of generated requests, where a test is not about them."""


def managed(name):
    """The target of a variation that the kit starts, kills, starts again and breaks."""
    start = f"exec {sys.executable} -m tests.broken {name}"
    return {
        "cmd": f"cd {ROOT} && {start} --port {{port}} --data {{data}}",
        "fault_cmd": "touch {data}/fault",
        "heal_cmd": "rm -f {data}/fault",
    }


def judge(rules, *, thresholds=(), strict=False, track="textual", **target):
    """Try rules on a target; results by rule."""
    settings = {"fuzz_budget": FUZZ_BUDGET, **dict(thresholds)}
    run = Run(seed=1, salt=str(time.time_ns()), patience=PATIENCE, track=track, **settings)
    if track != "multimodal":
        run.capabilities -= {Capability.IMAGES}
    if target.get("auth"):
        run.capabilities |= {Capability.AUTH}

    async def go():
        async with open_endpoint(Target(**target)) as endpoint:
            return await run_rules(endpoint, rules, run, strict=strict)

    return {result.rule: result for result in asyncio.run(go())}


def keyed(yes):
    """The target options of a server that wants a key, or of one that wants none."""
    return {"auth": Scheme.BEARER, "key": KEY, "key_env": "AML_KEY"} if yes else {}
