"""A message says what two ids have in common that a server took for one."""

import pytest

from aml_contract.techniques.resemblance import resemblance


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ("eval:User-1", "eval:uSER-1", "only in case"),
        ("u1", "u1 ", "white space at their ends"),
        ("caf\u00e9", "cafe\u0301", "two Unicode forms"),
        ("u1", "\uff55\uff11", "NFKC"),
        ("u1", "u\u200b1", "invisible characters"),
        ("caf\u00e9", "cafe", "only in accents"),
        ("a:b", "a_b", "only in separators"),
        ("u1", "u10", "beginning of the other"),
        ("x" * 80 + "a", "x" * 80 + "b", "same 80 characters"),
        ("anna", "bert", ""),
        ("*", "%", ""),
        ("", "u", ""),
    ],
)
def test_resemblance(one, other, words):
    for found in (resemblance(one, other), resemblance(other, one)):
        assert words in found
        assert bool(found) == bool(words)
