"""The handed cases replayed; their helpers assert, so pytest must show what they compare."""

import pytest

pytest.register_assert_rewrite(
    "tests.cases.replay", "tests.cases.expectations", "tests.cases.sessions"
)
