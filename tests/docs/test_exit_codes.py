"""The tables of exit codes hold the codes of the code, and the order in which they are sought."""

import itertools
import re

import pytest

from aml_contract.checking.document import exit_code
from aml_contract.outcome import Verdict
from tests.docs.pages import ROOT
from tests.kit.test_outcome import FAILED, KIT, NOT_TESTED, PASSED, report

USAGE = 2
"""What typer and the commands answer to a command line that makes no sense."""
PAGES = [ROOT / "README.md", ROOT / "docs" / "cli.md"]
CAUSES = {
    130: {"stopped": "interrupted"},
    4: {"stopped": "unreachable"},
    1: {"outcomes": [FAILED]},
    3: {"outcomes": [KIT]},
    5: {"outcomes": [NOT_TESTED]},
    6: {"outcomes": [PASSED, NOT_TESTED], "verdict": Verdict.INCOMPLETE},
    0: {"outcomes": [PASSED]},
}
"""What makes ``aml check --require-all`` end with each code, by itself."""


def ending(*causes):
    """The exit code where all of these are so."""
    made = {key: value for cause in causes for key, value in cause.items() if key != "outcomes"}
    outcomes = [each for cause in causes for each in cause.get("outcomes", [])]
    return exit_code(report(*outcomes, **made), require_all=True)


@pytest.fixture(params=PAGES, ids=lambda page: page.name)
def text(request):
    return request.param.read_text()


def test_the_table_holds_the_codes_that_there_are(text):
    table = re.search(r"\| code \|.*?\n\n", text, re.DOTALL)[0]
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)}
    assert documented == {USAGE, *(ending(cause) for cause in CAUSES.values())}


def test_of_several_the_first_holds_as_documented(text):
    said = re.search(r"first that holds of ([\d, ]+)", text)[1]
    order = [int(code) for code in re.findall(r"\d+", said)]
    assert order[0] == USAGE
    untested = {5}  # cannot be so beside a rule that was tried
    for one, other in itertools.combinations(order[1:], 2):
        if untested & {one, other} and {0, 1, 6} & {one, other}:
            continue
        if "stopped" in CAUSES[one] and "stopped" in CAUSES[other]:
            continue  # a run is stopped by one thing
        assert ending(CAUSES[one], CAUSES[other]) == one, (one, other)
