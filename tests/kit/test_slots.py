import asyncio

from aml_contract.endpoint.slots import Slots, rank


async def taken(slots, name, got, *, urgency=0, ahead=False, until=None):
    rank.set(urgency)
    async with slots.one(ahead=ahead):
        got.append(name)
        await (until or asyncio.sleep(0))


def test_the_lowest_rank_is_next_and_within_it_who_came_first():
    async def main():
        slots, got, end = Slots(1), [], asyncio.Event()
        tasks = [asyncio.create_task(taken(slots, "holds", got, until=end.wait()))]
        await asyncio.sleep(0)
        for name, urgency in (("c", 2), ("a", 1), ("d", 2), ("b", 1), ("ahead", 3)):
            one = taken(slots, name, got, urgency=urgency, ahead=name == "ahead")
            tasks.append(asyncio.create_task(one))
        await asyncio.sleep(0)
        end.set()
        await asyncio.gather(*tasks)
        return got

    assert asyncio.run(main()) == ["holds", "ahead", "a", "b", "c", "d"]


def test_a_place_given_to_somebody_who_has_gone_is_handed_on():
    async def main():
        slots, got = Slots(1), []
        holder = slots.one()
        await holder.__aenter__()
        early = asyncio.create_task(taken(slots, "early", got))
        late = asyncio.create_task(taken(slots, "late", got))
        third = asyncio.create_task(taken(slots, "third", got))
        await asyncio.sleep(0)
        early.cancel()  # while it waits
        await holder.__aexit__(None, None, None)
        late.cancel()  # it was given the place, and does not know it yet
        await third
        await asyncio.wait_for(slots.room(), 5)
        return got, early.cancelled(), late.cancelled()

    assert asyncio.run(main()) == (["third"], True, True)


def test_there_is_room_only_where_nobody_waits():
    async def main():
        slots, got, ends = Slots(1), [], [asyncio.Event(), asyncio.Event()]
        first = asyncio.create_task(taken(slots, 1, got, until=ends[0].wait()))
        second = asyncio.create_task(taken(slots, 2, got, until=ends[1].wait()))
        await asyncio.sleep(0)
        room = asyncio.create_task(slots.room())
        ends[0].set()
        await first
        for _ in range(3):
            await asyncio.sleep(0)
        held = room.done()  # the place went from the first to the second
        ends[1].set()
        await second
        await asyncio.wait_for(room, 5)
        return got, held

    assert asyncio.run(main()) == ([1, 2], False)
