"""The page as a browser shows it."""

import pytest

from aml_contract.probe.html import html
from aml_contract.probe.timeline import Mention, Moment, Timeline
from tests.browsing import CONTRAST, PHONE
from tests.probe.measured import report

pytestmark = pytest.mark.xdist_group("html")


@pytest.fixture
def text():
    made = report(ok=0.5, crowded=0.3, lost=0.2)
    shown = [
        Mention(rank=1, name="Oldmere", state="superseded"),
        Mention(rank=4, name="Newmere", state="current"),
        Mention(rank=9, name="Planmere", state="plan"),
    ]
    moments = [
        Moment(period=n, current="Newmere", changed=not n, shown=shown, outdated_first=True)
        for n in range(2)
    ]
    moments.append(
        Moment(period=2, current="Newmere", changed=False, shown=[], outdated_first=False)
    )
    made.scores.timeline = Timeline(
        user=0, slot="gym", question="What is my <b>gym</b> now?", moments=moments
    )
    return html(made)


def test_it_speaks_before_it_draws(opened, text):
    page = opened(text)
    assert page.locator("header .sentence").inner_text().startswith("Among its first 10 items")
    assert page.locator("header .sentences li").count() >= 1
    assert page.locator("figure .curve").count() == 10


def test_bars_are_the_stage_shares(opened, text):
    page = opened(text)
    own = page.locator(".bars tr", has_text="your endpoint").locator("rect")
    assert [float(rect.get_attribute("width")) for rect in own.all()] == [50, 30, 20]
    assert own.nth(1).get_attribute("class") == "crowded"


def test_a_life_is_shown_with_what_search_returned(opened, text):
    page = opened(text)
    assert "<b>gym</b>" in page.locator("#timeline ~ p").inner_text()
    row = page.locator(".life tbody tr").first
    assert row.locator(".mention").all_inner_texts() == ["1 Oldmere", "4 Newmere", "9 Planmere"]
    assert "none of its values" in page.locator(".life tbody tr").last.inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_can_be_read(opened, text, scheme):
    page = opened(text, viewport=PHONE, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    for selector in ("h1", ".sentences li", ".side th", ".side td", ".mention", ".soft", "a"):
        for ratio in page.evaluate(CONTRAST, selector):
            assert ratio >= 4.5, selector
