"""What tests of several folders need."""

import shutil

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="session")
def browser():
    """One browser for all pages and reports; without one, their tests are skipped."""
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip("needs chromium")
    with api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield made
        made.close()
