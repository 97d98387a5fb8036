"""What of an answer may be shown."""

import json

import pytest

from aml_contract.checking.masking import Mask
from aml_contract.exchange import Exchange

OURS = "The brimsk floond keeps a grail near the stolp."
FOREIGN = "Melanie told Caroline about her divorce"


def made(body, reply, status=200, operation="search", headers=None):
    def text(value):
        return value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()

    return Exchange(
        operation, "POST", "http://h/search", {}, text(body), status, headers or {}, text(reply),
        0.1, 0.0,
    )  # fmt: skip


def shown(reply, status=200, sent=OURS, operation="search"):
    add = {"user_id": "eval:aml-12ab:user-1", "messages": [{"role": "user", "content": sent}]}
    exchange = made(add, reply, status, operation)
    return Mask([exchange]).reply(exchange)


def test_what_the_rule_sent_comes_back_as_it_is():
    reply = {"data": [{"id": "7", "content": OURS, "score": 0.8371912847}]}
    assert json.loads(shown(reply)) == reply


def test_another_spelling_of_what_was_sent_is_shown():
    assert '"EVAL:AML-12AB:USER-1"' in shown({"user_id": "EVAL:AML-12AB:USER-1"})


def test_the_text_of_others_is_masked_by_its_length():
    reply = shown({"data": [{"id": "8", "content": FOREIGN}]})
    for word in FOREIGN.split():
        assert word not in reply
    assert f"⟨text, {len(FOREIGN)} characters, #" in reply


def test_beside_ours_the_text_of_others_is_masked_too():
    reply = shown({"data": [{"id": "8", "content": f"{OURS} {FOREIGN}"}]})
    assert OURS in reply
    assert "Melanie" not in reply


def test_equal_texts_have_equal_marks_and_others_have_not():
    data = json.loads(shown({"data": [FOREIGN, FOREIGN, FOREIGN + "!"]}))["data"]
    assert data[0] == data[1] != data[2]


@pytest.mark.parametrize(
    "said",
    ["Melanie", "张三的秘密是什么", "melanie@example.org", "+49 170 5551234", "5551234567"],
)
def test_names_and_numbers_are_masked(said):
    assert said not in shown({"data": [{"id": "8", "content": said}]})
    assert said not in shown({"data": [{"id": "8", "content": OURS, said: said}]})


def test_long_numbers_are_masked_and_scores_are_not():
    reply = shown({"data": [{"phone": 5551234567, "score": 0.123456789, "count": 12}]})
    assert "5551234567" not in reply
    assert "0.123456789" in reply
    assert "12}" in reply


@pytest.mark.parametrize(
    "plain", ["3fa1b2c3-1111-4222-8333-abcdefabcdef", "mem_12", "2024-05-01T10:00:00Z"]
)
def test_ids_of_machines_and_times_are_shown(plain):
    assert plain in shown({"data": [{"id": plain, "created_at": plain}]})


def test_errors_keep_technical_words_and_nothing_else():
    said = {"detail": {"reason": f"sqlite3.OperationalError: database is locked for {FOREIGN}"}}
    reply = shown(said, status=500)
    assert "sqlite3.OperationalError: database is locked" in reply
    assert "Melanie" not in reply
    assert "divorce" not in reply


def test_a_page_that_is_no_json_is_masked_too():
    reply = shown(b"<h1>Internal Server Error</h1><p class='x'>Melanie's divorce</p>", status=500)
    assert "Internal Server Error" in reply
    assert "Melanie" not in reply
    assert "Melanie" not in shown(b"Welcome, Melanie")


def test_broken_json_keeps_its_form():
    assert shown(b'{"data": [], "data": [NaN, tru').startswith('{"data": [], "data": [NaN, ')
    assert shown(b'{"data": [{"content": "Melanie tol').startswith('{"data": [{"content": "⟨')


def test_headers_that_nobody_knows_are_masked():
    headers = {"content-type": "text/html", "set-cookie": "user=Melanie", "x-user": "Melanie"}
    exchange = made({}, {}, headers=headers)
    kept = Mask([exchange]).headers(exchange)
    assert kept["content-type"] == "text/html"
    assert "Melanie" not in str(kept)


def test_messages_do_not_repeat_what_is_masked():
    exchange = made({"query": OURS}, {"data": [{"content": FOREIGN}, {"content": "Melanie"}]})
    mask = Mask([exchange])
    said = mask.message(f"a result shares no word: {FOREIGN[:30]!r}; it is of 'Melanie'")
    assert said.startswith("a result shares no word: '⟨")
    for word in ("Melanie", "Caroline", "told", "about"):
        assert word not in said


def test_messages_about_our_own_are_left_alone():
    exchange = made({"query": OURS}, {"data": [{"content": f"{OURS} {FOREIGN}"}]})
    said = f"the message came back changed: {OURS!r}, 2 of 3 items are there"
    assert Mask([exchange]).message(said) == said


def test_show_replies_shows_all_but_the_key():
    exchange = made({}, {"data": [{"content": f"{FOREIGN} KEY-123"}]})
    mask = Mask([exchange], redact=lambda text: text.replace("KEY-123", "$AML_KEY"), off=True)
    assert FOREIGN in mask.reply(exchange)
    assert "KEY-123" not in mask.reply(exchange)
    assert mask.message(FOREIGN) == FOREIGN


def test_the_key_that_came_back_is_seen_as_its_place():
    exchange = made({}, {"data": [{"content": "KEY-123"}]})
    mask = Mask([exchange], redact=lambda text: text.replace("KEY-123", "$AML_KEY"))
    assert '"$AML_KEY"' in mask.reply(exchange)
