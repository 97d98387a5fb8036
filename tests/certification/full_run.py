"""What the platform does in a run, written apart from the kit's own load and forecast."""

import asyncio
import json
import random

from aml_contract.certification.capacity.platform import EARLY


async def full_run(endpoint, volume, seed, *, adds=16, searches=16):
    """Send a whole run; the seconds that it took, by the event loop's clock.

    Users are served side by side, each one's Adds serially; a Search follows an Add of its
    user and holds up none.
    """
    chance, loop = random.Random(seed), asyncio.get_running_loop()
    users = list(enumerate(zip(volume.adds_of_users, volume.searches_of_users, strict=True)))
    chance.shuffle(users)
    waiting = iter(users)
    room = asyncio.Semaphore(searches)

    async def post(operation, **body):
        while True:
            made = await endpoint.send(operation, json.dumps(body).encode())
            if made.status == 200:
                return
            await asyncio.sleep(float(made.reply_headers["retry-after"]))

    async def ask(user):
        async with room:
            await post("search", user_id=user, query="who?", top_k=100)

    async def serve():
        for number, (count, asked) in waiting:
            user = f"user:{seed}:{number}"
            after = [
                chance.randrange(count) if chance.random() < EARLY else count - 1
                for _ in range(asked)
            ]
            for n in range(count):
                said = {"role": "user", "content": f"{user} says {n}"}
                await post(
                    "add", request_id=f"{user}:{n}", user_id=user, session_id=user, messages=[said]
                )
                for _ in range(after.count(n)):
                    group.create_task(ask(user))

    began = loop.time()
    async with asyncio.TaskGroup() as group:
        for _ in range(adds):
            group.create_task(serve())
    return loop.time() - began
