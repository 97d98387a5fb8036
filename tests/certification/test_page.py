"""The page of a certification as a browser shows it."""

import pytest

from aml_contract.certification.beginning import beginning_of
from aml_contract.certification.capacity.bounds import sample_of
from aml_contract.certification.capacity.data import CapacityData, Memories, Throughput, Traffic
from aml_contract.certification.capacity.overhead import Overhead
from aml_contract.certification.capacity.record import Point
from aml_contract.certification.configuration import settings_of
from aml_contract.certification.document import End
from aml_contract.certification.forecast.data import ForecastData, Growth, Hours, Sent
from aml_contract.certification.kept import Kept
from aml_contract.certification.report.files import write_reports
from aml_contract.certification.report.html import html
from aml_contract.certification.requirements import requirements_for
from aml_contract.certification.session import Session
from aml_contract.certification.stage import ORDER, Basis, Judgement, Problem, StageResult
from aml_contract.endpoint.target import Target
from tests.browsing import CONTRAST, PHONE
from tests.certification.certified import STAGES, contract_data
from tests.certification.declared import declared
from tests.certification.endpoints import toml
from tests.report.events import HOSTILE

pytestmark = pytest.mark.xdist_group("html")
SECONDS = [0.2 + n / 1000 for n in range(600)]
POINTS = [Point(history=n, seconds=0.2 + n / 100, waited=0.0) for n in range(30)]
TOLD = HOSTILE.replace("\ud83d", "?")
"""What a hostile server says, as it is kept."""


def traffic(accepted=600):
    return Traffic(
        in_flight=16,
        accepted=accepted,
        codes={"200": accepted, "429": 3},
        without_wait=0,
        sample=sample_of(SECONDS[:accepted]),
        alone=0.1,
        together=0.2,
        per_second=40.0,
        points=POINTS,
    )


CAPACITY = CapacityData(
    add=traffic(),
    search=traffic(90),
    memories=Memories(acknowledged=600, found=600, late=0, deep=0, lost=0, unseen=0, unfinished=0),
    troubles=[],
    overhead=Overhead(floor=0.001, lag=0.002, most=900.0),
    throughput=Throughput(width=1.0, adds=[3, 9, 12, 0], searches=[0, 4, 5, 9]),
    ended="clear",
    budget=600.0,
    verbatim=True,
    texts_only=False,
)
FORECAST = ForecastData(
    volume=Sent(adds=43_272, users=1_580, searches=10_144, longest=93),
    add=Growth(points=POINTS, fit=None),
    search=Growth(points=POINTS, fit=None),
    hours=Hours(low=20.5, mid=22.0, high=30.0),
    breaks=[],
    rate=None,
    limited=False,
    waiting=None,
    assumptions=["it goes on as it began"],
    trouble=None,
)


@pytest.fixture
def certified(tmp_path):
    """Makes the report of a certification that came to these judgements."""

    def make(*names, stopped=None, judgements=(), **data):
        config = tmp_path / "endpoint.toml"
        config.write_text(toml(endpoint={"url": "https://memory.example"}))
        basis = Basis(declared(changes=TOLD), requirements_for("textual"))
        settings = settings_of(config, basis.declaration)
        target = Target(url="https://memory.example", restart_cmd="true")
        beginning = beginning_of(basis, settings, target, seed=7)
        session = Session(Kept(tmp_path / "out"), beginning, basis, settings, target, {})
        measured = {
            "contract": contract_data(),
            "capacity": CAPACITY.model_dump(mode="json"),
            "forecast": FORECAST.model_dump(mode="json"),
            **data,
        }
        good = Judgement(verdict="PASS", summary="All is well.")
        for name in names or ORDER:
            found = measured.get(name, {})
            judged = STAGES[name].judge(found, basis) if name == "contract" else good
            session.results[name] = StageResult(
                stage=name,
                judgement=dict(judgements).get(name, judged),
                data=found,
                began=beginning.began,
                seconds=2.5,
            )
        session.stopped = stopped
        return session.report()

    return make


@pytest.fixture
def failed(certified):
    """A certification in which a rule failed, and a server said hostile things."""
    outcomes = {"echo/ids": "failed", "fidelity/text": "warned", "auth/wrong-key": "not_applicable"}
    data = contract_data(**outcomes)
    for result in data["report"]["rules"]:
        if result["outcome"] == "failed":
            result["message"] = f"it came back as {TOLD}"
    return certified(contract=data)


def test_the_verdict_comes_first_in_words(opened, failed):
    page = opened(html(failed))
    header = page.locator("header").inner_text()
    assert page.locator("h1").inner_text() == "FAIL"
    assert "Stage contract: 1 of 91 MUST rules failed; 1 warning." in header
    assert "certify again" in header


def test_the_six_stages_are_seen_at_a_glance(opened, certified):
    page = opened(html(certified("declaration", "preflight", "contract")))
    shown = page.locator(".stages > li").all_inner_texts()
    assert [text.split()[0] for text in shown] == list(ORDER)
    assert ["PASS" in text for text in shown] == [True, True, True, False, False, False]
    assert "not measured" in shown[3]


def test_each_problem_has_its_fix_and_its_clause(opened, failed):
    page = opened(html(failed))
    (problem,) = page.locator("[aria-labelledby=problems] .problem").all_inner_texts()
    assert problem.startswith("contract echo/ids: it came back as")
    assert "clause A1" in problem
    assert "fix" in problem
    remarks = page.locator("section.stage", has=page.locator("#contract")).inner_text()
    assert "fidelity/text" in remarks
    assert "it was tried without a key" in page.locator("[aria-labelledby=lowered]").inner_text()


def test_what_a_server_says_is_text(opened, failed):
    page = opened(html(failed))
    assert page.title() == "FAIL · aml certify"
    assert page.locator("img, script").count() == 0
    assert "{{ 7 * 7 }}" in page.locator("[aria-labelledby=problems]").inner_text()


def test_load_and_forecast_are_pictures_and_figures(opened, certified):
    page = opened(html(certified()))
    for name in ("Add: percentiles and their bounds", "Accepted a second, over time"):
        assert page.get_by_role("img", name=name).count() == 1
    table = page.get_by_role("region", name="The load").inner_text()
    assert "3 × 429" in table
    assert "to ?)" in table, "of ninety Searches the slowest of a hundred has no upper bound"
    assert page.locator(".hours").inner_text().startswith("22 hours")
    assert page.locator("figure .dot").count() == 2 * 3 + 2 * len(POINTS)


def test_a_load_of_which_nothing_was_accepted_is_shown_too(opened, certified):
    nothing = traffic().model_copy(update={"sample": None, "accepted": 0, "per_second": None})
    empty = CAPACITY.model_copy(
        update={
            "add": nothing,
            "search": nothing,
            "throughput": Throughput(width=1.0, adds=[], searches=[]),
        }
    )
    growth = Growth(points=[], fit=None)
    unknown = {"hours": None, "add": growth, "search": growth}
    page = opened(
        html(
            certified(
                capacity=empty.model_dump(mode="json"),
                forecast=FORECAST.model_copy(update=unknown).model_dump(mode="json"),
            )
        )
    )
    assert page.locator("figure").count() == 0
    assert page.locator(".hours").count() == 0


def test_what_stopped_it_is_told(opened, certified):
    end = End(why="unreachable", stage="preflight", reason="Nothing answers at x.\n  try  curl x")
    page = opened(html(certified("declaration", stopped=end)))
    header = page.locator("header").inner_text()
    assert "Nothing answers any more in stage preflight." in header
    assert "--resume goes on" in header
    assert "curl x" in header


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_can_be_read(opened, failed, scheme):
    page = opened(html(failed), viewport=PHONE, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    for selector in ("h1", ".verdict", ".soft", ".tone", ".advice", ".about dt", "a"):
        ratios = page.evaluate(CONTRAST, selector)
        assert ratios, selector
        assert min(ratios) >= 4.5, selector


def test_its_landmarks_are_there_and_the_keyboard_skips(opened, certified):
    page = opened(html(certified()))
    for landmark in ("banner", "main", "contentinfo"):
        assert page.get_by_role(landmark).count() == 1, landmark
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"


def test_links_beside_it_lead_to_what_was_written(certified, tmp_path):
    out = tmp_path / "out"
    assert write_reports(out, certified()) == []
    assert 'href="contract.html"' in (out / "report.html").read_text()
    assert "<h1>CONFORMANT</h1>" in (out / "contract.html").read_text()
    (out / "report.json").unlink()
    (out / "report.json").mkdir()
    (trouble,) = write_reports(out, certified())
    assert trouble.startswith(f"{out / 'report.json'} was not written")


def test_a_remark_is_no_problem(certified):
    said = Judgement(
        verdict="PASS", summary="Well.", problems=[Problem(sentence="So it is.", counts=False)]
    )
    assert certified(judgements={"preflight": said}.items()).problems == []
