"""The loop against a chat-completions server: every tool, and every way a model goes wrong."""

import json

import pytest

from aml_adapters.memgpt import MemGPTMemory
from aml_adapters.memgpt.rows import Snapshot
from aml_sdk import tokens
from aml_sdk.errors import Refused, Unavailable
from tests.adapters.memgpt.peek import core_of, events, notes, results, rows, summary
from tests.adapters.talk import DAY, FILLER, add, contents, search
from tests.providers import fake_openai as fake
from tests.providers.fake_openai import call, say

TEA = "Kim: I gave up coffee and drink jasmine tea now."


def test_a_model_is_told_the_rules_the_tools_and_the_messages_as_data(thinking, provider):
    add(thinking, "u", "r", TEA, "Bo: Noted!", start=DAY)
    (chat,) = provider.chats
    assert [message["role"] for message in chat["messages"]] == ["system", "user"]
    assert {tool["function"]["name"] for tool in chat["tools"]} == {
        "core_memory_append",
        "core_memory_replace",
        "archival_memory_insert",
        "archival_memory_search",
        "conversation_search",
    }
    assert chat["temperature"] == 0
    assert events(chat)["new_messages"]["messages"] == [
        {"time": "1970-01-02T00:00+00:00", "role": "user", "text": TEA},
        {"time": "1970-01-02T00:00+00:00", "role": "user", "text": "Bo: Noted!"},
    ]
    assert core_of(chat)["human"] == {"characters": 0, "limit": 200, "text": ""}


def test_core_memory_is_appended_replaced_and_in_the_next_prompt(thinking, provider, tmp_path):
    provider.script(
        call(
            *("core_memory_append", {"label": "human", "content": "Kim drinks jasmine tea"}),
            *("core_memory_append", {"label": "persona", "content": "Noted by Bo"}),
        )
    )
    add(thinking, "u", "r1", TEA, "Bo: Noted!", start=DAY)
    assert len(provider.chats) == 1  # no heartbeat was asked for
    provider.script(
        call(
            "core_memory_replace",
            {
                "label": "human",
                "old_content": "jasmine tea",
                "new_content": "jasmine tea and cocoa",
            },
        )
    )
    add(thinking, "u", "r2", "Kim: Cocoa too, lately.", start=2 * DAY)
    assert core_of(provider.chats[-1])["human"]["text"] == "Kim drinks jasmine tea"
    assert notes(tmp_path, "core") == ["Kim drinks jasmine tea and cocoa", "Noted by Bo"]
    found = search(thinking, "u", "What does Kim drink? cocoa")
    assert [each.id.split("-")[0] for each in found].count("core") == 2
    by_content = {each.content: each for each in found}
    assert by_content["Kim drinks jasmine tea and cocoa"].created_at.startswith("1970-01-03")
    assert "Kim drinks jasmine tea" not in by_content
    assert set(by_content) > {TEA, "Bo: Noted!", "Kim: Cocoa too, lately."}


def test_a_deleted_line_is_gone_from_memory_and_its_message_is_not(thinking, provider, tmp_path):
    fact = {"label": "human", "content": "Kim drinks jasmine tea"}
    provider.script(call("core_memory_append", fact))
    add(thinking, "u", "r1", TEA)
    kept = {"label": "human", "old_content": fact["content"], "new_content": ""}
    provider.script(call("core_memory_replace", kept))
    add(thinking, "u", "r2", "Kim: Forget that.")
    assert notes(tmp_path, "core") == []
    assert contents(search(thinking, "u", "jasmine tea")) == [TEA, "Kim: Forget that."]
    entries = rows(tmp_path, "SELECT count(*) FROM entry")
    assert entries == rows(tmp_path, "SELECT count(*) FROM message") == [(2,)]


def test_heartbeats_let_the_model_look_things_up_and_go_on(thinking, provider, tmp_path):
    provider.script(call("archival_memory_insert", {"content": "Kim drinks jasmine tea now"}))
    add(thinking, "u", "r1", TEA, *FILLER, start=DAY)
    provider.script(
        call("conversation_search", {"query": "kettle song", "request_heartbeat": True}),
        call("archival_memory_search", {"query": "what tea", "request_heartbeat": True}),
        call("conversation_search", {"query": "kettle", "page": 1, "request_heartbeat": True}),
        call("archival_memory_insert", {"content": "The kettle whistled: Kim remembers."}),
    )
    add(thinking, "u", "r2", "Kim: Do you remember the kettle?", start=2 * DAY)
    last = results(provider.chats[-1])
    assert last[0]["results"][0] == {"time": "1970-01-02T00:00+00:00", "text": FILLER[0]}
    assert len(last[0]["results"]) == 5
    assert [each["text"] for each in last[1]["results"]] == ["Kim drinks jasmine tea now"]
    assert len(last[2]["results"]) == 2
    assert notes(tmp_path, "archival") == [
        "Kim drinks jasmine tea now",
        "The kettle whistled: Kim remembers.",
    ]
    assert len(provider.chats) == 1 + 4


def test_looking_back_fetches_what_it_shows_and_no_other_kind(thinking, provider, monkeypatch):
    passage = "Kim drinks jasmine tea now"
    line = {"label": "human", "content": "jasmine tea"}
    provider.script(
        call(*("archival_memory_insert", {"content": passage}), *("core_memory_append", line))
    )
    add(thinking, "u", "r1", TEA, *[f"Kim: jasmine tea, cup {n}" for n in range(20)], start=DAY)
    fetched = []
    item = Snapshot.item
    monkeypatch.setattr(
        Snapshot, "item", lambda *given: fetched.append(item(*given)) or fetched[-1]
    )
    asked = {"query": "jasmine tea", "request_heartbeat": True}
    provider.script(
        call(*("archival_memory_search", asked), *("conversation_search", asked)), say("done")
    )
    add(thinking, "u", "r2", "Kim: Anyone for a cup?", start=2 * DAY)
    archive, recalled = results(provider.chats[-1])
    assert [each["text"] for each in archive["results"]] == [passage]
    assert len(recalled["results"]) == 5
    assert [each.kind for each in fetched] == ["archival", *["recall"] * 5]


def test_endless_heartbeats_end_and_what_was_written_stays(thinking, provider, tmp_path):
    provider.mode = call(
        "core_memory_append",
        {"label": "human", "content": "Kim drinks jasmine tea", "request_heartbeat": True},
    )
    add(thinking, "u", "r", TEA)
    assert len(provider.chats) == 4
    assert notes(tmp_path, "core") == ["Kim drinks jasmine tea"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (("core_memory_append", '{"label": "human", "cont'), "Invalid JSON"),
        (("core_memory_append", "[]"), "should be an object"),
        (("core_memory_append", {"label": "human"}), "content: Field required"),
        (("core_memory_append", {"label": "boss", "content": TEA}), "'human' or 'persona'"),
        (("core_memory_append", {"label": "human", "content": 7}), "valid string"),
        (("core_memory_append", {"label": "human", "content": " \n"}), "blank"),
        (("core_memory_append", '{"label": "human", "content": "\\ud800"}'), "Invalid JSON"),
        (("core_memory_append", {"label": "human", "content": "tea " * 60}), "limit is 200"),
        (("core_memory_replace", {"label": "human", "old_content": "x", "new_content": TEA}), "oc"),
        (("core_memory_replace", {"label": "human", "old_content": "", "new_content": TEA}), "oc"),
        (("archival_memory_insert", {"content": "tea " * 600}), "split it"),
        (("conversation_search", {"query": ""}), "blank"),
        (("conversation_search", {"query": "tea", "page": -1}), "page"),
        (("delete_everything", {}), "no such tool"),
        (("", "{}"), "no such tool"),
    ],
)
def test_a_wrong_call_changes_nothing_and_the_model_reads_why(
    thinking, provider, tmp_path, wrong, told
):
    provider.script(call(*wrong), call("archival_memory_insert", {"content": "jasmine tea, Kim"}))
    add(thinking, "u", "r", TEA)
    (answer,) = results(provider.chats[-1])
    assert answer["status"] == "Failed"
    assert told in answer["message"]
    assert notes(tmp_path, "core") == []
    assert notes(tmp_path, "archival") == ["jasmine tea, Kim"]
    for message in provider.chats[-1]["messages"]:
        for asked in message.get("tool_calls") or ():
            json.loads(asked["function"]["arguments"])  # servers refuse anything else


@pytest.mark.parametrize(
    "answer",
    [
        say("I would rather talk about tea: it is healthy."),
        say(""),
        fake.refusal(),
        say(None, finish_reason="content_filter"),
        fake.error(400, code="content_filter"),
        fake.error(413),
    ],
)
def test_a_model_that_does_not_work_loses_no_message(thinking, provider, tmp_path, answer):
    provider.mode = answer
    add(thinking, "u", "r", TEA)
    assert contents(search(thinking, "u", "healthy tea")) == [TEA]
    assert len(provider.chats) == 1
    assert rows(tmp_path, "SELECT text FROM note") == []


@pytest.mark.parametrize(
    "answer",
    [
        fake.error(500),
        fake.error(503),
        fake.rate_limited(),
        fake.error(401),
        fake.error(404),
        fake.bad_json(),
        fake.raw("<html>Bad gateway</html>", "text/html"),
    ],
)
def test_a_provider_in_trouble_keeps_nothing_and_a_retry_stores_all(
    thinking, provider, tmp_path, answer
):
    fact = {"label": "human", "content": "Kim drinks jasmine tea", "request_heartbeat": True}
    # The trouble comes in the second step: the first has changed the mind already.
    provider.script(call("core_memory_append", fact), answer)
    with pytest.raises(Unavailable):
        add(thinking, "u", "r", TEA)
    for table in ("user", "request", "message", "note", "entry", "posting"):
        assert rows(tmp_path, f"SELECT count(*) FROM {table}") == [(0,)]
    assert search(thinking, "u", "tea") == []
    thinking.discard("u", "r")
    add(thinking, "u", "r", TEA)
    assert contents(search(thinking, "u", "tea")) == [TEA]


def test_a_provider_that_hangs_is_given_up(tmp_path, provider):
    provider.mode = fake.hang(5)
    settings = provider.settings(embedding=False, timeout=0.5, retries=0)
    memory = MemGPTMemory(tmp_path / "data", providers=settings)
    with pytest.raises(Unavailable):
        add(memory, "u", "r", TEA)
    assert search(memory, "u", "tea") == []
    memory.close()


def test_a_search_asks_no_model(thinking, provider):
    add(thinking, "u", "r", TEA)
    asked = len(provider.requests)
    search(thinking, "u", "What does Kim drink?")
    assert len(provider.requests) == asked


def test_a_stored_request_is_not_thought_about_again(thinking, provider, tmp_path):
    provider.mode = call("archival_memory_insert", {"content": "Kim drinks jasmine tea now"})
    add(thinking, "u", "r", TEA)
    add(thinking, "u", "r", TEA)
    assert len(provider.chats) == 1
    assert notes(tmp_path, "archival") == ["Kim drinks jasmine tea now"]
    with pytest.raises(Refused):
        add(thinking, "u", "r", "another body")
    assert len(search(thinking, "u", "tea")) == 2


def test_the_context_stays_within_its_budget(thinking, provider, tmp_path):
    provider.mode = say("They talk of ferries and walnuts.")
    for number in range(24):
        add(thinking, "u", f"r{number}", *(f"{text} No. {number}." for text in FILLER * 3))
    told = [events(chat) for chat in provider.chats]
    warned = [place for place, each in enumerate(told) if "system_alert" in each]
    summarised = [place for place, each in enumerate(told) if "summarise" in each]
    assert warned
    assert warned[0] < summarised[0]  # first a warning, then eviction
    assert len(summarised) >= 2
    second = told[summarised[1]]["summarise"]
    assert second["summary"] == "They talk of ferries and walnuts."  # recursive
    assert "tools" not in provider.chats[summarised[1]]
    after = told[summarised[0] + 1]
    assert after["summary_of_older_messages"]["text"] == "They talk of ferries and walnuts."
    assert second["messages"][0] not in after["new_messages"]["messages"]
    assert max(tokens.count(json.dumps(chat)) for chat in provider.chats) < 4_096
    assert summary(tmp_path) == "They talk of ferries and walnuts."
    # What has left the context is in recall storage, and no summary is evidence.
    found = contents(search(thinking, "u", "kettle song No. 0", top_k=1_000))
    assert len(found) == 24 * 18
    assert found[0] == "The kettle whistled through the whole song. No. 0."
    assert not [each for each in found if "They talk of" in each]


def test_a_summary_that_fails_leaves_the_last_one(thinking, provider, tmp_path):
    provider.mode = fake.refusal()
    for number in range(12):
        add(thinking, "u", f"r{number}", *(f"{text} No. {number}." for text in FILLER * 3))
    assert summary(tmp_path) == ""
    assert rows(tmp_path, "SELECT evicted > 0 FROM user") == [(1,)]
    assert len(search(thinking, "u", "kettle", top_k=1_000)) == 12 * 18


def test_a_long_add_is_read_in_several_turns_and_a_long_message_by_its_beginning(
    thinking, provider
):
    long = "tiles and gutters " * 1_000 + "tamarind"
    add(thinking, "u", "r", long, *(f"{text} Again." for text in FILLER * 12))
    told = [events(chat) for chat in provider.chats]
    shown = [each["new_messages"]["messages"] for each in told if "new_messages" in each]
    assert len(shown) > 1
    assert shown[0][0]["text"] == long[: len(shown[0][0]["text"])] != long
    assert sum(map(len, shown)) == 1 + 12 * len(FILLER)
    assert search(thinking, "u", "tamarind")[0].content == long


def test_calls_that_fill_the_context_end_the_turn(thinking, provider):
    calls = ("conversation_search", {"query": "tea", "request_heartbeat": True}) * 60
    provider.script(call(*calls), say("never asked for"))
    add(thinking, "u", "r", TEA)
    assert len(provider.chats) == 1
    assert contents(search(thinking, "u", "tea")) == [TEA]


def test_of_too_many_calls_some_are_carried_out_and_the_model_hears_which(tmp_path, provider):
    memory = MemGPTMemory(tmp_path, providers=provider.settings(embedding=False))
    provider.script(call(*("conversation_search", {"query": "tea"}) * 100))
    add(memory, "u", "r", TEA)
    assert len(results(provider.chats[1])) == 64
    memory.close()
