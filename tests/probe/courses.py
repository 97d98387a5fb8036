"""Small worlds, and courses of memories in this process through them."""

import asyncio

from aml_contract.probe.asking import Course
from aml_contract.probe.guard import Guarded
from aml_contract.probe.lives import Parameters
from aml_contract.probe.world import World

SMALL = Parameters(users=3, periods=4, filler=1)


def world(seed=1, run="r1", code="en", **parameters):
    """A world that is small unless told otherwise."""
    return World(seed, run, Parameters(**{**vars(SMALL), **parameters}), code)


def course(of, memory, modes=("direct",), **how):
    """What a memory was seen to do."""
    return asyncio.run(Course(of, Guarded(memory), modes, **how).run())
