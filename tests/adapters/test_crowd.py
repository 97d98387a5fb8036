"""32 users at once, each Add after Add, on a real server of each memory."""

import asyncio
import re
import sys

import httpx
import pytest

from tests.adapters.talk import FILLER
from tests.memories import MEMORIES
from tests.servers import in_process

USERS, CHUNKS = 32, 3
_TOLD_BY = re.compile(r"No\. (\d+)-")


@pytest.mark.parametrize("name", MEMORIES)
def test_thirty_two_users_at_once_lose_nothing_and_see_nobody_else(name, tmp_path):
    serve = [sys.executable, "-m", "aml_cli.main", "serve", name, "--port", "{port}"]
    with in_process([*serve, "--data", tmp_path / "data"]) as server:
        asyncio.run(crowd(server.url))


async def crowd(url):
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(
        base_url=url, timeout=120, limits=limits, trust_env=False
    ) as client:
        async with asyncio.TaskGroup() as group:
            for user in range(USERS):
                group.create_task(live(client, user))
        for user in range(USERS):
            everything = [text for chunk in range(CHUNKS) for text in texts(user, chunk)]
            await told(client, user, "What was said?", everything)


async def live(client, user):
    known = []
    for chunk in range(CHUNKS):
        said = texts(user, chunk)
        body = {
            "request_id": f"chunk-{chunk}",  # the same under each user: two requests (clause R2)
            "user_id": f"eval:crowd:{user}",
            "session_id": f"session-{chunk}",
            "messages": [{"role": "user", "content": text} for text in said],
        }
        answer = await client.post("/add", json=body)
        assert (answer.status_code, answer.json()["user_id"]) == (200, body["user_id"])
        known += said
        await told(client, user, said[-1], known)


async def told(client, user, query, known):
    """A Search gives each message that the user was acknowledged, once, and no one else's."""
    body = {"query": query, "user_id": f"eval:crowd:{user}", "top_k": 1_000}
    answer = await client.post("/search", json=body)
    assert answer.status_code == 200, answer.text
    found = "\n\n".join(item["content"] for item in answer.json()["data"])
    assert {text: found.count(text) for text in known} == dict.fromkeys(known, 1)
    assert set(_TOLD_BY.findall(found)) == {str(user)}


def texts(user, chunk):
    return [f"{text} No. {user}-{chunk}-{place}." for place, text in enumerate(FILLER)]
