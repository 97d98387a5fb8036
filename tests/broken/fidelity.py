"""Servers that change the text they were given."""

import html
import unicodedata
from dataclasses import replace

from tests.broken.correct import Correct


class Normalises(Correct):
    kills = {"fidelity/text": "composed and decomposed accents"}

    def content_of(self, memory):
        return unicodedata.normalize("NFC", memory.message.content)


class EscapesMarkup(Correct):
    kills = {"fidelity/text": "markup and escapes"}

    def content_of(self, memory):
        return html.escape(memory.message.content)


class KnowsTheBMPOnly(Correct):
    """A three-byte text column."""

    kills = {"fidelity/text": "emoji, characters beyond the BMP"}

    def content_of(self, memory):
        return "".join(c if ord(c) < 0x10000 else "?" for c in memory.message.content)


class Dedents(Correct):
    """Strips every line."""

    kills = {"fidelity/code": "other white space"}

    def content_of(self, memory):
        return "\n".join(line.strip() for line in memory.message.content.split("\n"))


class Collapses(Correct):
    kills = {
        "fidelity/inner-space": "white space inside a text came back changed",
        "fidelity/code": "other white space",
    }

    def content_of(self, memory):
        return " ".join(memory.message.content.split())


class Strips(Correct):
    kills = {"fidelity/outer-space": "white space around a text was trimmed"}

    def content_of(self, memory):
        return memory.message.content.strip()


class CutsAtTwoThousand(Correct):
    """What an embedder reads is all that is kept."""

    kills = {"fidelity/long-text": "the middle of a message of"}

    def content_of(self, memory):
        return memory.message.content[:2_000]


class CutsTails(Correct):
    kills = {"fidelity/long-text": "the end of a message of"}

    def content_of(self, memory):
        return memory.message.content[:7_500]


class CrashesOnNul(Correct):
    kills = {"fidelity/control-characters": "a message with NUL was answered 500"}

    def check_content(self, content):
        text = super().check_content(content)
        if "\0" in text:
            raise ValueError("a string literal cannot contain NUL")
        return text


class EndsAtNul(Correct):
    """The message is lost, for its text has no words before the NUL."""

    kills = {"fidelity/control-characters": "a message with NUL was acknowledged and is not found"}

    def index(self, add):
        kept = tuple(m for m in add.messages if "\0" not in m.content)
        super().index(replace(add, messages=kept))


class CrashesOnSurrogates(Correct):
    """Finds out when it writes."""

    kills = {"fidelity/surrogates": "a message with a lone surrogate was answered 500"}

    def unicode(self, text):
        text.encode()
        return text


class PoisonedBySurrogates(Correct):
    """Takes it, and answers that user no more."""

    kills = {"fidelity/surrogates": "the user's next message is not found"}

    def unicode(self, text):
        return text.encode(errors="surrogatepass").decode(errors="replace")

    def memories_of(self, search):
        found = []
        for memory in super().memories_of(search):
            if "\ufffd" in memory.message.content:
                break
            found.append(memory)
        return found


class SplitsAtSpaces(Correct):
    """Finds what shares a word, and knows words between spaces only."""

    kills = {"fidelity/cjk-words": "does not find it in Japanese, Chinese, Korean"}

    def words(self, text):
        return frozenset(text.casefold().replace("?", " ").replace(".", " ").split())

    def rank(self, search, memories):
        # A Korean word is followed by a space here, so that only the particle hides it.
        wanted = self.words(search.query)
        return [(s, m) for s, m in super().rank(search, memories) if s and not wanted & {"치과"}]
