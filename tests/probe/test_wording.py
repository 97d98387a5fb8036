from aml_contract.endpoint.target import Target
from aml_contract.probe.relations import Relation
from aml_contract.probe.session import Probe
from aml_contract.probe.wording import percent, sentences, with_interval
from tests.probe.courses import world
from tests.probe.measured import figure, report


def said(**figures):
    return " ".join(sentences(report(**figures)))


def test_it_leads_with_what_comes_first():
    first = next(sentences(report(hit=0.92, stale_first=0.61)))
    assert first == (
        "Among its first 10 items it finds 92 % of current values, asked by name, "
        "but shows an outdated one first in 61 %."
    )
    assert "never shows an outdated one first" in said(stale_first=0.0)


def test_it_says_where_values_are_lost():
    reading = said(ok=0.5, crowded=0.3, resolved_wrong=0.1, write=0.09, lost=0.01)
    assert "mostly at reading: 10 % found, but another looks newer, 30 % stored" in reading
    assert "lost after" not in reading
    assert "mostly at writing" in said(ok=0.5, crowded=0.1, write=0.4)
    assert "mostly between the two" in said(ok=0.5, crowded=0.1, lost=0.4)
    assert "Nothing is lost on the way." in said(ok=1.0)


def test_what_contents_show_is_said_only_if_it_is_so():
    assert "what another user said, of 2 users" in said(leak=0.1)
    assert "25 % of values were not found by their own words" in said(visible=0.75)
    assert "no created_at" in said(dated=0.0)
    assert "40 % of its times are not those" in said(event_time=0.6)
    plain = said(leak=0.0, visible=1.0, dated=1.0, event_time=1.0, fabrication=0.0)
    for words in ("another user", "own words", "created_at", "times", "do not say so"):
        assert words not in plain


def test_it_is_set_beside_full_text_search_only_where_intervals_part():
    assert "finds more than BM25" in said(hit=(0.9, 0.85, 0.95))
    assert "finds less than BM25" in said(hit=(0.1, 0.05, 0.2))
    assert "BM25" not in said(hit=(0.5, 0.4, 0.6))


def test_a_relation_that_does_not_hold_is_said():
    broken = report()
    says = "Adds that are sent again change no Search"
    broken.scores.relations = [
        Relation(name="replay", says=says, held=False, of=10, broken=3),
        Relation(name="repeat", says="the same", held=True, of=10, broken=0),
    ]
    told = " ".join(sentences(broken))
    assert f"It should be that {says}; it was not in 3 of 10 Searches." in told
    assert "the same" not in told


def test_shares_are_rounded_and_never_below_nothing_by_that():
    assert percent(-0.001) == "0 %"
    assert percent(None) == "–"
    assert with_interval(figure(0.61, 0.55, 0.67)) == "61 % (55–67)"
    assert with_interval(figure(0.61, None, None)) == "61 %"


def test_a_probe_that_did_not_end_says_nothing():
    probe = Probe(Target(url="http://127.0.0.1:9"), world(users=1), ["direct"])
    assert list(sentences(probe.report)) == []
