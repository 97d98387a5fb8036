"""Servers that mix up the messages of a chunk, or fold those that look alike."""

from dataclasses import replace

from tests.broken.correct import Correct


class MixesUpBatches(Correct):
    """Embeddings come back in another order than they were asked for."""

    kills = {"fidelity/batch-order": "quotes message 1 of a chunk of 20 brings message 20 first"}

    def index(self, add):
        super().index(add)
        mine = self.memories[self.user_key(add.user_id)]
        batch = mine[-len(add.messages) :]
        words = [memory.words for memory in batch]
        turned = zip(batch, [*words[1:], words[0]], strict=True)
        mine[-len(batch) :] = [replace(memory, words=other) for memory, other in turned]


class MixesUpDates(Correct):
    """The dates of a chunk are off by one."""

    kills = {"fidelity/batch-order": "came back with the date of another: 2023-"}

    def index(self, add):
        dates = [message.timestamp for message in add.messages]
        turned = zip(add.messages, [*dates[1:], dates[0]], strict=True)
        messages = tuple(replace(message, timestamp=other) for message, other in turned)
        super().index(replace(add, messages=messages))


class KnowsTextsByTheirBeginning(Correct):
    """What begins alike is the same memory, and the first one stays."""

    kills = {"fidelity/near-duplicates": "3 are not found: 'has code 4827.', 'is mine.'"}

    def index(self, add):
        mine = self.memories.get(self.user_key(add.user_id), [])
        known = {memory.message.content[:120] for memory in mine}
        kept = tuple(m for m in add.messages if m.content[:120] not in known)
        super().index(replace(add, messages=kept))


class FoldsNumbers(Correct):
    """Texts that differ in their digits only are one; the last one stays."""

    kills = {"fidelity/near-duplicates": "1 are not found: 'has code 4821.'"}

    def index(self, add):
        new = {self.shape(message.content) for message in add.messages}
        user = self.user_key(add.user_id)
        mine = self.memories.get(user, [])
        self.memories[user] = [m for m in mine if self.shape(m.message.content) not in new]
        super().index(add)

    def shape(self, text):
        return "".join("0" if character.isdigit() else character for character in text)
