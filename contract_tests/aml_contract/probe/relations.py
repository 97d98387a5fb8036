"""Relations: what must stay as it is when something else changes (metamorphic checks).

They ask the first user some questions again after each change. A memory that a model writes, or
that answers by chance, may not hold them; that is worth knowing, and no more.
"""

from __future__ import annotations

from collections.abc import Sequence

from aml_contract.documented import Documented
from aml_contract.probe.asking import add_body
from aml_contract.probe.memory import Memory, search_body, user_id
from aml_contract.probe.sessions import Session
from aml_contract.probe.world import World

_QUESTIONS = 10
_SESSIONS = 20


class Relation(Documented):
    """One relation, and whether it held."""

    name: str
    says: str
    """What should be so, in a sentence."""
    held: bool
    of: int
    """Searches that it was looked for in."""
    broken: int
    """Searches in which it did not hold."""


class Relations:
    """Looks for relations at a memory that has been through a world."""

    def __init__(self, world: World, memory: Memory) -> None:
        self._world, self._memory = world, memory
        self._user = world.users[0]
        self._id = user_id(world.run, 0)

    async def look(self) -> list[Relation]:
        """Look for all of them."""
        questions = self._world.questions(self._user, ["direct"])[:_QUESTIONS]
        texts = [question.text for question in questions]
        before = await self._replies(texts)
        found, after = [], await self._replies(texts)
        found.append(_unchanged("repeat", "the same Search gives the same items", before, after))
        await self._again()
        before, after = after, await self._replies(texts)
        says = "Adds that are sent again change no Search"
        found.append(_unchanged("replay", says, before, after))
        await self._add(user_id(self._world.run, "bystander"), self._told())
        before, after = after, await self._replies(texts)
        says = "what another user adds, even in the same words, changes no Search"
        found.append(_unchanged("bystander", says, before, after))
        found.append(
            await self._closed(
                "stranger",
                "a user who never added anything is shown nothing",
                [user_id(self._world.run, "stranger")],
            )
        )
        says = "users whose ids look like another's are shown nothing of theirs"
        found.append(await self._closed("neighbours", says, _near(self._id)))
        return found

    async def _replies(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        return [await self._ask(self._id, text) for text in texts]

    async def _closed(self, name: str, says: str, ids: Sequence[str]) -> Relation:
        """Nobody of these ids is shown a name, though they ask in the very words of its Add."""
        told, broken = self._told()[0], 0
        for user in ids:
            shown = await self._ask(user, told.sentence)
            broken += any(self._world.register.mentions(content) for content in shown)
        return Relation(name=name, says=says, held=not broken, of=len(ids), broken=broken)

    def _told(self) -> list[Session]:
        """Some sessions of the first user that told a value."""
        told = (session for period in self._user.sessions for session in period if session.change)
        return list(told)[-_SESSIONS:]

    async def _again(self) -> None:
        """Send the first user's last Adds once more, as they were."""
        every = [session for period in self._user.sessions for session in period]
        for number in range(len(every) - _SESSIONS, len(every)):
            await self._memory.add(add_body(self._id, number, every[number].messages))

    async def _add(self, user: str, sessions: Sequence[Session]) -> None:
        for number, session in enumerate(sessions):
            await self._memory.add(add_body(user, number, session.messages))

    async def _ask(self, user: str, text: str) -> tuple[str, ...]:
        return tuple(item.content for item in await self._memory.search(search_body(text, user)))


def _unchanged(
    name: str, says: str, before: Sequence[tuple[str, ...]], after: Sequence[tuple[str, ...]]
) -> Relation:
    broken = sum(first != second for first, second in zip(before, after, strict=True))
    return Relation(name=name, says=says, held=not broken, of=len(before), broken=broken)


def _near(user: str) -> list[str]:
    """Ids that a careless store takes for this one."""
    wide = user.replace("0", "０")
    return [user.upper(), f"{user} ", f" {user}", user[:-1], f"{user}0", f"{user[:-1]}%",
            f"{user[:-1]}*", f"{user[:-1]}_", f"{user}\u200b", wide]  # fmt: skip
