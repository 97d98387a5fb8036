import asyncio

from aml_contract.checking.waiting import tell_of_waiting
from aml_contract.endpoint.http import HTTPEndpoint
from aml_contract.endpoint.target import Target
from tests.kit.test_http_endpoint import Wire, _silent, reply, replying


def told(answer, until):
    """What is said of a request to such a server, ``until`` a number of words or its end."""
    said = []

    async def main():
        async with Wire(answer) as wire:
            target = Target(url=wire.url, timeout=600)
            endpoint = HTTPEndpoint(target.urls(), target.credentials, target)
            asking = asyncio.create_task(endpoint.send("add", b"{}"))
            enough = asyncio.Event()

            def say(words):
                said.append(words)
                if len(said) == until:
                    enough.set()

            telling = asyncio.create_task(tell_of_waiting(endpoint, say, first=0.05))
            waiting = asyncio.create_task(enough.wait())
            await asyncio.wait({asking, waiting}, return_when=asyncio.FIRST_COMPLETED)
            left = endpoint.longest_wait
            for task in (telling, waiting, asking):
                task.cancel()
            await endpoint.aclose()
            return left

    return asyncio.run(main()), said


def test_a_request_without_an_answer_is_told_of_now_and_then():
    (seconds, operation), said = told(_silent, until=2)
    assert operation == "add"
    assert seconds >= 0.1  # twice the first time
    assert all(words.startswith("no answer to Add for") for words in said)
    assert all("600 s" in words and "--timeout" in words for words in said)


def test_nothing_is_said_where_answers_come():
    assert told(replying(reply(200)), until=1) == (None, [])
