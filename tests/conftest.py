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
