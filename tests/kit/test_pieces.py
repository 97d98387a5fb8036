"""A text that came back cut up was kept; one whose end is missing was not."""

from types import SimpleNamespace

import pytest

from aml_contract.item import Item
from aml_contract.namespace import Namespace
from aml_contract.rule import Capability
from aml_contract.techniques.steps import in_pieces

MARKERS = [Namespace(seed, "salt", "test/pieces").marker() for seed in range(5)]
KINDS = {"verbatim": frozenset({Capability.VERBATIM}), "rewriting": frozenset()}


def items(*contents):
    return [Item(id=str(n), content=content, raw={}) for n, content in enumerate(contents)]


def trial(kind):
    """As much of a trial as says what the endpoint claims."""
    made = SimpleNamespace(run=SimpleNamespace(capabilities=KINDS[kind]))
    made.showing = lambda found, marker: [
        found[n] for n in marker.shown_by([i.content for i in found], verbatim=kind == "verbatim")
    ]
    return made


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("marker", MARKERS, ids=range(len(MARKERS)))
def test_wherever_a_text_is_cut_what_the_question_finds_shows_it(kind, marker):
    asked = {word for word in marker.words if word in marker.query}
    assert len(asked) >= 4
    for cut in range(len(marker.text) + 1):
        pieces = marker.text[:cut], marker.text[cut:]
        found = [piece for piece in pieces if any(word in piece for word in asked)]
        assert in_pieces(trial(kind), items(*found), marker), found


@pytest.mark.parametrize("kind", KINDS)
def test_another_text_and_a_few_words_show_nothing(kind):
    marker, other = MARKERS[:2]
    beginning = marker.text[: marker.text.index(marker.words[2])]
    assert not in_pieces(trial(kind), items(other.text, beginning), marker)
