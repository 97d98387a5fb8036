import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

from aml_sdk.errors import Misconfigured, Unavailable
from aml_sdk.providers import ChatModel, ProviderRefusal, ProviderSettings
from aml_sdk.server.logs import JSONFormatter
from tests.providers import fake_openai as fake

_SAID = "what a user told in confidence"
_MESSAGES = [{"role": "user", "content": _SAID}]


@pytest.fixture
def chat(provider):
    model = ChatModel(provider.settings())
    yield model
    model.close()


def test_a_reply_holds_words_usage_and_reason(provider, chat):
    provider.script(fake.say("hello", finish_reason="length"))
    reply = chat.complete(_MESSAGES, temperature=None)
    assert (reply.content, reply.tool_calls, reply.finish_reason) == ("hello", (), "length")
    assert (reply.usage.prompt, reply.usage.completion) == (11, 7)
    assert provider.chats == [{"model": "fake-chat", "messages": _MESSAGES}]


def test_tools_go_out_and_calls_come_back_as_written(provider, chat):
    provider.script(fake.call("note", {"text": "x"}, "note", "{not json"))
    tool = {"type": "function", "function": {"name": "note", "parameters": {"type": "object"}}}
    reply = chat.complete(
        _MESSAGES,
        tools=[tool],
        tool_choice="required",
        response_format={"type": "json_object"},
        max_tokens=5,
    )
    assert [(each.name, each.arguments) for each in reply.tool_calls] == [
        ("note", '{"text": "x"}'),
        ("note", "{not json"),
    ]
    sent = provider.chats[0]
    assert (sent["tools"], sent["tool_choice"]) == ([tool], "required")
    assert sent["response_format"] == {"type": "json_object"}
    assert (sent["temperature"], sent["max_tokens"]) == (0, 5)


def test_a_refusal_is_a_reply(provider, chat):
    provider.script(fake.refusal())
    reply = chat.complete(_MESSAGES)
    assert reply.content == ""
    assert "cannot help" in reply.refusal


@pytest.mark.parametrize("first", [fake.rate_limited(), fake.error(500), fake.error(503)])
def test_trouble_that_passes_is_not_seen(provider, chat, first):
    provider.script(first, fake.say("at last"))
    assert chat.complete(_MESSAGES).content == "at last"
    assert len(provider.chats) == 2


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        (fake.error(401), "AML_LLM_API_KEY"),
        (fake.error(403), "AML_LLM_API_KEY"),
        (fake.error(404, code="model_not_found"), "AML_LLM_MODEL"),
        (fake.error(429, code="insufficient_quota", headers={"Retry-After": "0.01"}), "quota"),
        (fake.error(500), "tries again"),
        (fake.bad_json(), "trouble"),
        (fake.raw("{}"), "no chat completion"),
        (fake.raw("[]"), "no chat completion"),
        (fake.raw("<html>", "text/html"), "no chat completion"),
        (fake.raw('{"choices": [{}]}'), "no chat completion"),
    ],
)
def test_trouble_that_stays_is_unavailable_and_the_log_says_what_to_do(
    provider, chat, caplog, answer, advice
):
    provider.mode = answer
    caplog.set_level(logging.DEBUG)
    logging.getLogger("aml").propagate = True
    with pytest.raises(Unavailable) as raised:
        chat.complete(_MESSAGES)
    assert not isinstance(raised.value, ProviderRefusal)
    lines = [JSONFormatter().format(record) for record in caplog.records]
    assert any(advice in line for line in lines)
    told = " ".join([*lines, str(raised.value)])
    assert _SAID not in told
    assert fake.KEY not in told


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_request_that_is_refused_is_told_apart(provider, chat, status):
    provider.mode = fake.error(status, code="context_length_exceeded")
    with pytest.raises(ProviderRefusal):
        chat.complete(_MESSAGES)
    assert len(provider.chats) == 1


def test_a_server_that_hangs_or_is_gone_is_unavailable(provider):
    provider.mode = fake.hang()
    slow = ChatModel(provider.settings(timeout=0.2, retries=0))
    with pytest.raises(Unavailable):
        slow.complete(_MESSAGES)
    given = {"AML_LLM_BASE_URL": "http://127.0.0.1:9/v1", "AML_LLM_MODEL": "m"}
    gone = ChatModel(ProviderSettings.from_environment({**given, "AML_PROVIDER_RETRIES": "0"}))
    with pytest.raises(Unavailable):
        gone.complete(_MESSAGES)


def test_no_more_requests_at_once_than_set(provider):
    provider.delay = 0.05
    chat = ChatModel(provider.settings(concurrency=2))
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: chat.complete(_MESSAGES), range(8)))
    assert len(replies) == 8
    assert provider.most_at_once == 2


def test_no_other_account_of_the_environment_is_sent_along(provider, monkeypatch):
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
        monkeypatch.setenv(f"OPENAI_{name}", "stray")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    given = {"AML_LLM_BASE_URL": provider.url, "AML_LLM_MODEL": "m"}
    ChatModel(ProviderSettings.from_environment(given)).complete(_MESSAGES)
    assert "authorization" not in provider.headers[0]
    assert "stray" not in str(provider.headers[0])
    ChatModel(provider.settings()).complete(_MESSAGES)
    assert provider.headers[1]["authorization"] == f"Bearer {fake.KEY}"
    assert "stray" not in str(provider.headers[1])


def test_without_a_model_it_says_what_to_set():
    with pytest.raises(Misconfigured, match="AML_LLM_BASE_URL and AML_LLM_MODEL"):
        ChatModel(ProviderSettings())
