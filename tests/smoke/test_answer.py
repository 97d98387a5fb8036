"""``aml smoke --answer``: the whole way from Add to Evaluate, and how it ends."""

import asyncio
import json
import time

import pytest

from aml_contract import tokens
from aml_contract.exchange import Exchange
from aml_contract.smoke.answering import AnswererTrouble, Model, Stub
from aml_contract.smoke.answers import ContractBrokenError
from aml_contract.smoke.choices import NOT_SAID, Choices, choices_of
from aml_contract.smoke.diagnosis import LABEL, of_broken, of_unreachable
from aml_contract.smoke.locomo import Question, load, shipped
from aml_contract.smoke.prefix import prefix_of
from tests.providers import fake_openai
from tests.providers.fake_openai import fake_provider
from tests.smoke.memory import Memory, serving
from tests.smoke.test_cli import aml

[LANTERNS] = load([shipped()])
CHOICES = Choices(("a ferry", "a blue bicycle", "a tram", NOT_SAID), "B")


def ended(ran):
    """What the platform would say, and our diagnosis."""
    lines = ran.stdout.splitlines()
    [platform] = [line for line in lines if line.startswith("On the platform")]
    [diagnosis] = [line for line in lines if line.startswith("Diagnosis: ")]
    return platform, diagnosis


def test_every_shipped_question_has_options_and_one_right_answer():
    assert len(LANTERNS.questions) == 26
    for question in LANTERNS.questions:
        made = choices_of(question, LANTERNS.questions, 0)
        assert made == choices_of(question, LANTERNS.questions[::-1][::-1], 0)
        assert len(set(made.texts)) == 5
        assert made.texts[-1] == NOT_SAID
        right = made.lettered[made.right]
        assert right == (question.answer or NOT_SAID)
        assert (question.category == 5) == (right == NOT_SAID)
        assert question.category != 5 or question.trap in made.texts
        assert made.options[0] == f"A. {made.texts[0]}"


def test_the_right_letters_are_spread_and_change_with_the_seed():
    def letters(seed):
        return [choices_of(q, LANTERNS.questions, seed).right for q in LANTERNS.questions]

    assert set(letters(0)) == set("ABCDE")
    assert letters(0) != letters(1)


def test_a_question_without_an_answer_has_no_options():
    assert choices_of(Question("Why?", 4, ("D1:1",)), LANTERNS.questions, 0) is None


@pytest.mark.parametrize("budget", [0, 1, 5, 12, 40])
def test_the_prefix_ends_where_the_budget_does(budget):
    contents = ["The ferry leaves at nine.", "猫在篮子里睡觉。", "Nobody saw the third one."]
    whole = "\n\n".join(contents)
    made = prefix_of(contents, budget)
    assert made.tokens <= budget
    assert whole.startswith(made.text.rstrip("\ufffd"))
    assert (made.unread == 0) == (made.text == whole)


def test_the_budget_is_that_of_the_contract():
    made = prefix_of([" word" * 117_758, "late evidence"])
    assert made.tokens == tokens.ANSWER_BUDGET == 117_760
    assert made.unread == 1
    assert made.text.endswith(" word\n\nlate")
    assert prefix_of(["word " * 120_000, "late evidence"]).unread == 2


@pytest.mark.parametrize(
    ("memories", "letter"),
    [
        ("Ana: I bought a blue bicycle in May.\nBo: The tram was late.", "B"),
        ("Bo: The tram was late.", "D"),
        ("", "D"),
    ],
)
def test_the_stub_reads_what_it_is_given_and_nothing_else(memories, letter):
    assert asyncio.run(Stub().answer("What did Ana buy in May?", memories, CHOICES)) == letter


def asked(url, key="k-answer"):
    async def go():
        model = Model(url, "a-model", key)
        try:
            return await model.answer("What did Ana buy?", "Ana bought a bicycle.", CHOICES)
        finally:
            await model.aclose()

    return asyncio.run(go())


@pytest.mark.parametrize(
    ("reply", "letter"),
    [("B", "B"), (" (B).", "B"), ("B. a blue bicycle", "B"), ("Bicycle", None), ("Z", None)],
)
def test_a_model_is_asked_and_its_letter_is_read(reply, letter):
    with fake_provider() as provider:
        provider.script(fake_openai.say(reply))
        assert asked(provider.url) == letter
    [body] = provider.requests
    assert (body["model"], body["temperature"]) == ("a-model", 0)
    assert "Ana bought a bicycle." in body["messages"][1]["content"]
    assert "B. a blue bicycle" in body["messages"][1]["content"]
    assert provider.headers[0]["authorization"] == "Bearer k-answer"


def test_without_a_key_none_is_sent(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody-else")
    with fake_provider() as provider:
        provider.script(fake_openai.say("B"))
        assert asked(provider.url, key=None) == "B"
    assert "somebody-else" not in str(provider.headers)
    assert "authorization" not in provider.headers[0]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (fake_openai.error(401), "the key is refused"),
        (fake_openai.error(404), "no such model or URL"),
        (fake_openai.error(400), "the request is refused"),
        (fake_openai.raw("<html>"), "no usable answer came"),
        (fake_openai.raw('{"choices": []}'), "no usable answer came"),
    ],
)
def test_a_model_that_does_not_answer_is_not_the_endpoints_fault(answer, words):
    with fake_provider() as provider:
        provider.mode = answer
        with pytest.raises(AnswererTrouble, match=words) as trouble:
            asked(provider.url)
    assert fake_openai.KEY not in str(trouble.value)


def test_the_whole_flow_with_the_stub(tmp_path):
    with serving() as server:
        first = aml("smoke", "--url", server.url, "--answer", "stub", "--json", "a.json",
                    cwd=tmp_path)  # fmt: skip
        again = aml("smoke", "--url", server.url, "--answer", "stub", "--json", "b.json",
                    cwd=tmp_path)  # fmt: skip
    assert first.returncode == again.returncode == 0, first.stderr
    assert "Answers: 26 of 26" in first.stdout
    one, other = (json.loads((tmp_path / f"{name}.json").read_text()) for name in "ab")
    assert one["evaluation"] == other["evaluation"]
    assert one["evaluation"]["right"] > 2 * 26 * one["evaluation"]["chance"]
    assert all(len(body["options"]) == 5 for body in server.searches)
    platform, diagnosis = ended(first)
    assert platform == "On the platform this Smoke run comes to its end."
    assert diagnosis == "Diagnosis: The flow works from end to end; nothing stands in its way."
    assert one["diagnosis"] == {"label": None, "cause": diagnosis.removeprefix("Diagnosis: ")}


def test_the_whole_flow_with_a_model(tmp_path):
    with serving() as server, fake_provider() as provider:
        provider.chat = fake_openai.say("E")
        ran = aml(
            "smoke", "--url", server.url, "--answer", provider.url, "--answer-key-env", "A_KEY",
            "--questions", "9", "--json", "a.json", cwd=tmp_path, A_KEY="k-answer",
        )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert {body["model"] for body in provider.chats} == {"gpt-4o-mini"}
    assert len(provider.chats) == 9
    found = json.loads((tmp_path / "a.json").read_text())
    assert found["evaluation"]["by"] == "gpt-4o-mini"
    assert "no better than guessing" in found["diagnosis"]["cause"]
    assert "k-answer" not in ran.stdout + ran.stderr + json.dumps(found)


def test_without_answer_nothing_is_said_and_no_options_are_sent(tmp_path):
    with serving() as server:
        ran = aml("smoke", "--url", server.url, "--questions", "2", "--json", "a.json",
                  cwd=tmp_path)  # fmt: skip
    assert "On the platform" not in ran.stdout
    assert not any("options" in body for body in server.searches)
    assert "diagnosis" not in json.loads((tmp_path / "a.json").read_text())


class Refuses(Memory):
    def on_add(self, body):
        return 422, {"detail": {"reason": "no role"}}


class WantsNoOptions(Memory):
    def on_search(self, body):
        return (400, {}) if "options" in body else super().on_search(body)


class Empty(Memory):
    def on_search(self, body):
        return 200, {"data": []}


class Shouts(Memory):
    def on_add(self, body):
        status, reply = super().on_add(body)
        return status, {**reply, "success": "true"}


class Histories(Memory):
    """Everything as one item, and a long one."""

    def on_search(self, body):
        text = "filler word " * 70_000 + "\n".join(self.stored[body["user_id"]])
        return 200, {"data": [{"id": "all", "content": text}]}


@pytest.mark.parametrize(
    ("kind", "label", "words"),
    [
        (Refuses, LABEL, "an Add was answered 422: it refuses a legal body, for good"),
        (WantsNoOptions, LABEL, "a Search was answered 400: it refuses a legal body"),
        (Shouts, LABEL, "has success 'true', not true; answer as clause A11 says"),
        (Empty, None, "Every Search came back empty"),
        (Histories, None, "The first item alone fills what the answer model reads"),
    ],
)
def test_how_it_ends_and_why(tmp_path, kind, label, words):
    with serving(kind) as server:
        ran = aml("smoke", "--url", server.url, "--answer", "stub", "--questions", "3",
                  cwd=tmp_path)  # fmt: skip
    platform, diagnosis = ended(ran)
    assert ran.returncode == (1 if label else 0), ran.stderr
    assert platform.endswith(f"ends with {label}." if label else "comes to its end.")
    assert words in diagnosis


def test_nothing_there_is_the_same_label_and_another_cause(tmp_path):
    ran = aml("smoke", "--url", "http://127.0.0.1:9", "--answer", "stub", cwd=tmp_path)
    platform, diagnosis = ended(ran)
    assert ran.returncode == 4
    assert LABEL in platform
    assert "no request arrived" in diagnosis
    assert "start yours" in diagnosis


def test_a_model_that_is_not_there_leaves_no_verdict_on_the_endpoint(tmp_path):
    with serving() as server:
        ran = aml("smoke", "--url", server.url, "--answer", "http://127.0.0.1:9/v1",
                  "--questions", "1", cwd=tmp_path)  # fmt: skip
    assert ran.returncode == 3
    assert "no fault of your endpoint" in ran.stderr
    assert LABEL not in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--answer", "gpt-4o-mini"], "--answer is a URL such as https://api.example/v1, or stub"),
        (["--answer", "http://127.0.0.1:9/v1", "--answer-key-env", "NOT_THERE"], "$NOT_THERE is"),
    ],
)
def test_what_makes_no_sense_is_said_before_anything_is_sent(tmp_path, arguments, words):
    with serving() as server:
        ran = aml("smoke", "--url", server.url, *arguments, cwd=tmp_path)
    assert ran.returncode == 2
    assert words in ran.stderr
    assert not server.adds


def exchange(**made):
    given = {"operation": "add", "status": None, "seconds": 0.1, "reply": b"", "error": None}
    return Exchange(
        method="POST", url="http://x", headers={}, body=b"", reply_headers={}, started=time.time(),
        **given | made,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({"error": "no answer within 1800 s"}, "answer sooner, and before 100 s"),
        ({"error": "connection reset", "seconds": 101.0}, "a proxy or tunnel cuts long requests"),
        ({"error": "connection reset"}, "never deploy during a run"),
        ({"status": 524}, "a proxy or tunnel in front waited too long"),
        ({"status": 301}, "redirects are not followed"),
        ({"status": 401}, "register the key"),
        ({"status": 418}, "refuses what is legal"),
        ({"status": 429}, "over its limit of requests"),
        ({"status": 500}, "the server failed, at every try"),
        ({"status": 599}, "the server failed"),
        ({"status": 201}, "only 200 is a success"),
        ({"status": 200, "reply": b"<html>"}, "the URL of the memory itself"),
    ],
)
def test_each_end_has_its_cause(made, words):
    found = of_broken(ContractBrokenError("an Add was answered", "A13", exchange(**made)))
    assert found.label == LABEL
    assert words in found.cause
    assert "\n" not in found.cause


def test_the_advice_for_what_is_unreachable_is_kept():
    found = of_unreachable("Nothing answers at X: refused.\n  why  none listens\n  do   start it")
    assert found.cause == "no request arrived (Nothing answers at X: refused); start it."
