"""``AML_CASES=FILE python -m tests.cases`` replays the cases and prints what became of each.

Arguments go to pytest: ``-m "not slow"`` replays them on ``hybrid`` alone.
"""

import re
import sys
from collections import defaultdict

import pytest

from tests.cases.faulty import SYSTEMS
from tests.cases.sessions import APART
from tests.cases.test_cases import CASES, TESTED_BESIDE, UNREPLAYED

_REPLAYED = re.compile(r"::test_case\w*\[(?:(?P<system>.+)-)?(?P<case>\w+)\]$")


class Collected:
    """Keeps the outcome of each replay, by case and by memory."""

    def __init__(self):
        self.outcomes = defaultdict(dict)

    def pytest_runtest_logreport(self, report):
        found = _REPLAYED.search(report.nodeid)
        if found and (report.when == "call" or report.failed):
            case = found["case"]
            system = found["system"] or SYSTEMS[case].__name__
            self.outcomes[case][system] = report.outcome


def main():
    """Replay and print; 1 if a case failed."""
    collected = Collected()
    here = "tests/cases/test_cases.py"
    code = pytest.main(["-q", here, *sys.argv[1:]], plugins=[collected])
    print()
    for name, case in CASES.items():
        became = collected.outcomes[name]
        said = [f"{outcome} on {system}" for system, outcome in became.items()] or ["not replayed"]
        beside = UNREPLAYED.get(name) or TESTED_BESIDE.get(name)
        said += [beside] if beside else []
        said += [f"{on}: {one.why}" for (on, of), one in APART.items() if of == name]
        print(f"{name}  {case['level']:<9}{case['kind']:<21}{'; '.join(said)}")
    return code


if __name__ == "__main__":
    sys.exit(main())
