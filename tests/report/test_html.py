"""The HTML report as a browser shows it."""

import pytest

from aml_contract.outcome import Outcome
from aml_contract.report.formats import FORMATS
from tests.browsing import CONTRAST, PHONE
from tests.report.events import HOSTILE

pytestmark = pytest.mark.xdist_group("html")


@pytest.fixture
def text(report, rules):
    return FORMATS["html"](report, rules)


def shown(page):
    rows = page.locator(".rules > li")
    return [row.get_attribute("id") for row in rows.all() if row.is_visible()]


def test_the_verdict_comes_first_in_words(opened, text):
    page = opened(text)
    assert page.locator("h1").inner_text() == "NONCONFORMANT"
    assert "2 of 3 MUST rules failed" in page.locator("header").inner_text()
    assert shown(page)[0] == "echo/untouched", "findings come first"


def test_the_verdict_leads_to_the_rule_to_begin_with(opened, report, rules):
    waiting = next(one for one in report.rules if one.outcome is Outcome.NOT_TESTED)
    waiting.message = "two users share a memory (see isolation/case-twins)"
    page = opened(FORMATS["html"](report, rules))
    rule = page.locator("[id='isolation/case-twins']")
    page.locator("input[value=warned]").check()
    rule.locator("details.rule").evaluate("it => it.open = false")
    assert not rule.is_visible()
    page.locator("header .sentence a", has_text="isolation/case-twins").click()
    assert rule.is_visible()
    assert rule.locator(".message").is_visible()


def test_what_a_server_says_is_text(opened, text):
    page = opened(text)
    assert page.title() == "NONCONFORMANT · aml check"
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 1
    said = page.locator("[id='echo/untouched'] .message").inner_text()
    assert said.startswith(f"it came back as {HOSTILE[:50]}")
    assert "{{ 7 * 7 }}" in said


def test_the_policy_keeps_out_what_was_written_in_all_the_same(browser, tmp_path, text):
    file = tmp_path / "report.html"
    own = "<script>document.title = 'owned'</script><img src=x onerror='document.title = 1'>"
    file.write_text(text.replace("<footer>", f"{own}<footer>"))
    page = browser.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(file.as_uri())
    assert page.title() == "NONCONFORMANT · aml check"
    assert any("Content Security Policy" in words for words in complaints)
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_scrolls_sideways_on_a_phone(opened, text, scheme):
    page = opened(text, viewport=PHONE, color_scheme=scheme)
    for details in page.locator("details").all():
        details.evaluate("element => element.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_light_and_dark_differ_and_are_as_the_system_wants(opened, text):
    def ground(scheme):
        page = opened(text, color_scheme=scheme)
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in colour.strip("rgb()").split(","))

    assert ground("light") > 3 * 200
    assert ground("dark") < 3 * 60


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_on_their_ground(opened, text, scheme):
    page = opened(text, color_scheme=scheme)
    for selector in ("h1", ".sign", ".weight", ".about dt", "header .sentence", ".counts b", "a"):
        for ratio in page.evaluate(CONTRAST, selector):
            assert ratio >= 4.5, selector


def test_filters_work_by_keyboard(opened, text):
    page = opened(text)
    everything = shown(page)
    page.keyboard.press("/")
    page.keyboard.type("scores rise")
    assert shown(page) == ["order/scores"]
    assert page.locator("#state").inner_text() == "1 of 7 rules"
    page.keyboard.press("Escape")
    page.wait_for_function("document.getElementById('state').textContent === 'All 7 rules'")
    assert shown(page) == everything
    page.locator("input[value=failed]").focus()
    page.keyboard.press("Space")
    assert shown(page) == ["echo/untouched", "isolation/case-twins"]
    page.locator("input[value=SHOULD]").focus()
    page.keyboard.press("Space")
    assert shown(page) == []


def test_a_family_leads_to_its_rules(opened, text):
    page = opened(text)
    page.locator("[data-family-link=isolation]").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.getElementById('state').textContent === '1 of 7 rules'")
    assert shown(page) == ["isolation/case-twins"]


def test_a_command_is_copied_whole(opened, text, report):
    page = opened(text, permissions=["clipboard-read", "clipboard-write"])
    button = page.locator("[id='echo/untouched'] .command button").first
    button.click()
    page.wait_for_function(
        "element => element.textContent === 'Copied'", arg=button.element_handle()
    )
    assert page.evaluate("navigator.clipboard.readText()") == report.rules[0].exchanges[0].curl


def test_it_reads_without_javascript(opened, text):
    page = opened(text, java_script_enabled=False)
    assert len(shown(page)) == 7
    assert not page.locator("#filters").is_visible()
    assert not page.locator(".command button").first.is_visible()
    page.locator("[id='visibility/immediate'] summary").click()
    assert page.locator("[id='visibility/immediate'] .about").is_visible()


def test_readers_of_screens_find_their_way(opened, text):
    page = opened(text)
    for landmark in ("banner", "main", "search", "contentinfo", "navigation"):
        assert page.get_by_role(landmark).count() == 1, landmark
    headings = page.locator("h1, h2").all_inner_texts()
    assert headings[0] == "NONCONFORMANT"
    assert {"Families at a glance", "The run"} <= set(headings)
    for name in ("Search: each request over the run", "Add: share that was answered within"):
        assert page.get_by_role("img", name=name).count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"


def test_a_conformant_run_has_no_findings(opened, conformant, rules):
    page = opened(FORMATS["html"](conformant, rules))
    assert page.locator("h1").inner_text() == "CONFORMANT"
    assert page.locator("#rules").inner_text() == "Rules"


def test_a_killed_run_says_how_it_goes_on(opened, report, rules):
    killed = report.model_copy(update={"stopped": "killed", "samples": {}, "latency": {}})
    page = opened(FORMATS["html"](killed, rules))
    assert f"aml check --resume {report.run}" in page.locator("header").inner_text()
    assert page.locator("#latency").count() == 0
