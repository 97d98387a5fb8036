from datetime import date

import pytest

from aml_adapters.hybrid.tokens import date_terms, query_terms, terms


@pytest.mark.parametrize("part", ["API", "配置", "API配置", "配", "api"])
def test_a_mixed_word_holds_its_parts(part):
    assert set(terms(part)) <= set(terms("请打开API配置页面"))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("ＡＰＩ", "api"),
        ("café Ångström", "CAFE angstrom"),
        ("e\u0301te\u0301", "été"),
        ("running flights", "run flight"),
        ("Straße", "STRASSE"),
        ("ﾊﾞﾅﾅ", "バナナ"),
        ("117,760", "117760"),
        ("Łódź smørrebrød Encyclopædia", "lodz smorrebrod encyclopaedia"),
    ],
)
def test_spellings_of_one_word_meet(text, same):
    assert set(terms(same)) <= set(terms(text))


@pytest.mark.parametrize(("one", "other"), [("й", "и"), ("が", "か"), ("हि", "ह"), ("가", "각")])
def test_a_mark_that_makes_another_letter_stays(one, other):
    assert set(terms(one)).isdisjoint(terms(other))


def test_identifiers_are_found_whole_and_by_their_parts():
    assert terms("get_user_id") == ["get_user_id", "get", "user", "id"]
    assert terms("HTTPServerError") == ["httpservererror", "http", "server", "error"]
    assert terms("RTX4090") == ["rtx4090", "rtx", "4090"]
    assert terms("__init__") == ["__init__", "init"]


def test_chinese_gives_characters_and_words_of_two():
    assert terms("成都人") == ["成", "成都", "都", "都人", "人"]


def test_symbols_are_terms_and_punctuation_only_where_nothing_else_is():
    assert terms("🎉 done!") == ["🎉", "done"]
    assert terms("?!") == ["?", "!"]
    assert terms(" \n\t") == []


def test_query_syntax_is_only_punctuation():
    assert query_terms('"Elm" AND (café* OR NEAR:') == ["elm", "cafe", "near"]


def test_stop_words_go_unless_nothing_else_is_asked():
    assert query_terms("Who is the pilot?") == ["pilot"]
    assert query_terms("Who are you?") == terms("who are you")


def test_control_characters_part_words():
    assert terms("left\x00right") == ["left", "right"]


def test_a_date_is_found_as_people_write_it():
    day = set(date_terms(date(2023, 5, 8)))
    assert set(query_terms("8 May 2023")) <= day
    assert {"2023年", "5月", "8日"} <= set(terms("2023年5月8日")) & day
