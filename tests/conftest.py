"""What tests of several folders need."""

import shutil

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="module")
def browser():
    """One browser for a module's pages; without one, its tests are skipped.

    No wider scope: as long as Playwright runs, its thread counts as inside an event loop, and
    every later test that calls `asyncio.run` fails.
    """
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip("needs chromium")
    with api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a report from a file; what it complains of and asks for fails the test."""
    trouble, contexts = [], []

    def show(text, **context):
        file = tmp_path / "report.html"
        file.write_text(text)
        contexts.append(browser.new_context(viewport=context.pop("viewport", None), **context))
        page = contexts[-1].new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda asked: asked.url == file.as_uri() or trouble.append(asked.url))
        page.goto(file.as_uri())
        return page

    yield show
    for context in contexts:
        context.close()
    assert trouble == []
