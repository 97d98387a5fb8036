"""Small collections for tests of the matrix. A gated server starts once ``$GATE`` exists."""

import os
import sys

from aml_contract.matrix.entry import Entry
from tests.broken import servers
from tests.broken.serving import ROOT

CORRECT = f"cd {ROOT} && exec {sys.executable} -m tests.broken Correct --port {{port}}"
FOLDS_CASE = CORRECT.replace("Correct", "FoldsCase")
TWINS = "isolation/case-twins"
SEES = "sees a memory of"


def gated(cmd):
    """The command behind the gate; the process that waits writes its id beside it."""
    gate = os.environ["GATE"]
    return f"echo $$ > {gate}.pid; while [ ! -e {gate} ]; do sleep 0.05; done; {cmd}"


def good():
    """A healthy server, a broken one, and one whose finding is true."""
    return [
        Entry("correct", CORRECT, healthy=True),
        Entry("folds", FOLDS_CASE, healthy=False, kills={TWINS: SEES}),
        Entry("known", FOLDS_CASE, healthy=True, expected={TWINS: "It folds case, and says so."}),
    ]


def with_a_gate():
    """The same, but the broken one, which comes last, waits."""
    first, broken, known = good()
    return [
        first,
        Entry("folds", gated(broken.cmd), healthy=False, kills=broken.kills),
        known,
    ]


def bad():
    """Everything that can be wrong, and one server that is not."""
    return [
        Entry("absent", "echo no such database; exit 3  # {port}", healthy=True),
        Entry("absent-by-url", "exit 3  # {port}", healthy=True, killable=False),
        Entry("fatal", "kill -9 $PPID  # {port}", healthy=True),
        Entry("found-out", FOLDS_CASE, healthy=True),
        Entry("innocent", CORRECT, healthy=True, expected={TWINS: "It was so once."}),
        Entry("mumbles", FOLDS_CASE, healthy=False, kills={TWINS: "other words"}),
        Entry("survivor", CORRECT, healthy=False, kills={TWINS: SEES}),
        Entry("zealous", FOLDS_CASE, healthy=False, kills={TWINS: SEES}),
    ]


def shy():
    """Found out by a rule only while no other has sent anything."""
    cmd = f"cd {ROOT} && exec {sys.executable} -m tests.broken BrokenByParallelism --port {{port}}"
    words = servers()["BrokenByParallelism"].kills
    return [Entry("shy", cmd, healthy=False, kills=words)]


def forgetful():
    """In memory only: judged by its URL, it is not killed."""
    return [Entry("forgetful", CORRECT, healthy=True, killable=False)]


def nothing():
    """No entries."""
    return ["correct"]
