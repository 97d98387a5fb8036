"""The page as a browser shows it."""

import pytest

from aml_contract.comparison.html import html
from aml_contract.comparison.side_by_side import side_by_side
from aml_contract.comparison.sources import read_sources
from tests.browsing import CONTRAST, PHONE
from tests.comparison.conftest import FIRST, SECOND, report

pytestmark = pytest.mark.xdist_group("html")


@pytest.fixture
def opened(browser, tmp_path, written):
    """Opens the page of three runs; what it asks for and complains of fails the test."""
    trouble = []
    reports = [report(FIRST), report(SECOND, hours=1), report(FIRST, url="https://other.example")]
    file = tmp_path / "page.html"
    file.write_text(html(side_by_side(read_sources(written(*reports)))))
    pages = []

    def show(**context):
        pages.append(browser.new_context(**context))
        page = pages[-1].new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("request", lambda asked: asked.url == file.as_uri() or trouble.append(asked.url))
        page.goto(file.as_uri())
        return page

    yield show
    for context in pages:
        context.close()
    assert trouble == []


def test_it_says_what_changed_and_what_differs(opened):
    page = opened()
    assert page.locator("h1").inner_text() == "Side by side"
    assert "3 runs of 2 endpoints; 5 rules of 6" in page.locator("header").inner_text()
    changed = page.locator(".change").inner_text()
    assert changed.startswith("From A to B")
    assert "Newly failing" in changed
    assert "isolation/case-twins" in changed.partition("Fixed")[2]
    row = page.locator("tr", has=page.get_by_role("rowheader", name="echo/ids"))
    marks = row.locator(".cell").all_inner_texts()
    assert [mark.split()[-1] for mark in marks] == ["passed", "failed", "passed"]
    assert page.locator("figure .curve").count() == 6


def test_what_a_server_says_is_text(opened):
    page = opened()
    assert page.title() == "3 runs side by side · aml compare"
    assert page.locator("img, script").count() == 0
    assert "<script>document.title" in page.locator(".change").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_can_be_read(opened, scheme):
    page = opened(viewport=PHONE, color_scheme=scheme)
    for details in page.locator("details").all():
        details.evaluate("element => element.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    for selector in ("h1", "h4", ".cell", ".level", ".remarks li", "a"):
        for ratio in page.evaluate(CONTRAST, selector):
            assert ratio >= 4.5, selector
