"""``AML_CASES=FILE python -m tests.cases`` replays the cases and prints what became of each."""

import sys
from collections import defaultdict

import pytest

from tests.cases.faulty import SYSTEMS
from tests.cases.test_cases import CASES, EXPECTATIONS, SYSTEM, TESTED_BESIDE, UNREPLAYED


class Collected:
    """Keeps the outcome of each replay."""

    def __init__(self):
        self.outcomes = defaultdict(lambda: "not run")

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.partition("::test_case[")[2].rstrip("]")
        if name and (report.when == "call" or report.failed):
            self.outcomes[name] = report.outcome


def main():
    """Replay and print; 1 if a case failed."""
    collected = Collected()
    here = "tests/cases/test_cases.py"
    code = pytest.main(["-q", here, *sys.argv[1:]], plugins=[collected])
    print()
    for name, case in CASES.items():
        on = SYSTEMS[name].__name__ if name in SYSTEMS else SYSTEM
        state = f"{collected.outcomes[name]} on {on}" if name in EXPECTATIONS else "not replayed"
        beside = UNREPLAYED.get(name) or TESTED_BESIDE.get(name, "")
        print(f"{name}  {case['level']:<9}{case['kind']:<21}{state:<26}{beside}".rstrip())
    return code


if __name__ == "__main__":
    sys.exit(main())
