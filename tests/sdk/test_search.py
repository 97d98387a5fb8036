"""What a Search hands to the system, and what it lets out."""

import json
import math
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from aml_sdk import ImagePart, ImageURL, Memory, TextPart, Unavailable
from tests.sdk.systems import Found, Recorded


def memory(identifier="m", content="text", **fields):
    """An item as a careless system makes it: unchecked."""
    return Memory.model_construct(
        id=identifier,
        content=content,
        score=fields.get("score"),
        created_at=fields.get("created_at"),
    )


def found(serve, *memories, top_k=100, **settings):
    answer = serve(Found(*memories), **settings).search(top_k=top_k)
    assert answer.status_code == 200

    def refuse(name):
        raise AssertionError(name)

    return json.loads(answer.content, parse_constant=refuse)["data"]


def test_nothing_found_is_an_empty_list(serve):
    server = serve(Recorded())
    assert server.search(user_id="never seen").content == b'{"data":[]}'


def test_absent_fields_are_left_out(serve):
    assert found(serve, memory()) == [{"id": "m", "content": "text"}]


def test_all_four_fields_come_through(serve):
    item = {"id": "m", "content": " text\n", "score": 0.0, "created_at": "2024-01-01T00:00:00Z"}
    assert found(serve, Memory(**item)) == [item]


def test_more_than_top_k_is_cut(serve):
    items = [memory(str(number)) for number in range(9)]
    assert [item["id"] for item in found(serve, *items, top_k=3)] == ["0", "1", "2"]


def test_an_invalid_item_makes_room_for_the_next(serve):
    items = [memory("a"), memory("a"), memory("b", " "), memory("", "x"), memory("c")]
    assert [item["id"] for item in found(serve, *items, top_k=2)] == ["a", "c"]


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, "0.5", True, 10**400, [1]])
def test_a_bad_score_is_left_out_and_the_item_kept(serve, score):
    assert found(serve, memory(score=score)) == [{"id": "m", "content": "text"}]


@pytest.mark.parametrize("created_at", [1704067200, "yesterday", "2024-01-01T00:00:00", ""])
def test_a_bad_date_is_left_out_and_the_item_kept(serve, created_at):
    assert found(serve, memory(created_at=created_at)) == [{"id": "m", "content": "text"}]


@pytest.mark.parametrize("content", [None, 5, "", "\n", [], [TextPart(type="text", text=" ")], [5]])
def test_content_that_says_nothing_is_dropped(serve, content):
    assert found(serve, memory(content=content), memory("good")) == [
        {"id": "good", "content": "text"}
    ]


def test_half_a_surrogate_pair_drops_its_item_only(serve):
    assert [item["id"] for item in found(serve, memory("bad", "\ud800"), memory("good"))] == [
        "good"
    ]


def text(words):
    return TextPart(type="text", text=words)


def image(size):
    data = "A" * (size * 4 // 3)
    return ImagePart(type="image_url", image_url=ImageURL(url=f"data:image/png;base64,{data}"))


def test_text_parts_alone_come_back_as_text(serve):
    assert found(serve, memory(content=[text("a"), text("b")]))[0]["content"] == "a\nb"


def test_parts_with_an_image_come_back_in_order(serve):
    parts = [text("a"), image(3), text("b")]
    assert found(serve, memory(content=parts))[0]["content"] == [
        {"type": "text", "text": "a"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "text", "text": "b"},
    ]


def test_images_beyond_the_limit_end_the_answer(serve):
    items = [memory(str(number), [image(300)]) for number in range(5)]
    assert len(found(serve, *items, max_images=900)) == 3


def test_a_white_space_query_finds_nothing_and_disturbs_nobody(serve):
    server = serve(Found(RuntimeError("must not be asked")))
    assert server.search(" \n\t").json() == {"data": []}
    assert server.search([{"type": "text", "text": " "}]).json() == {"data": []}
    assert server.search("?").status_code == 500


def test_a_store_that_fails_never_answers_an_empty_list(serve):
    answer = serve(Found(Unavailable("index is gone"))).search()
    assert answer.status_code == 503
    assert "data" not in answer.json()
    assert serve(Found(KeyError("x"))).search().status_code == 500


def test_options_reach_the_system_and_empty_ones_are_absent(serve):
    seen = []

    class Curious(Found):
        def search(self, request):
            seen.append(request.options)
            return []

    server = serve(Curious())
    for options in (None, [], ["A. x", "B. y"]):
        assert server.search(options=options).status_code == 200
    assert seen == [None, None, ["A. x", "B. y"]]


def test_a_system_that_returns_no_list_is_a_failure(serve):
    class Wrong(Found):
        def search(self, request):
            return None

    assert serve(Wrong()).search().status_code == 500


def test_a_generator_searches_while_others_are_served(serve):
    started, go = threading.Event(), threading.Event()

    class Lazy(Found):
        def search(self, request):
            started.set()
            go.wait(20)
            yield Memory(id="a", content="late")

    server = serve(Lazy())
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(server.search)
        assert started.wait(10)
        assert server.http.get("/health", timeout=5).status_code == 200
        go.set()
        assert [item["content"] for item in found.result().json()["data"]] == ["late"]
