"""Servers whose results are not what was stored."""

from tests.broken.correct import Correct, Memory, Message, RefusedError


class RequiresOptions(Correct):
    kills = {"evidence/options-accepted": "a Search without options was answered 422"}

    def check_search(self, body):
        if "options" not in body:
            raise RefusedError(422, "options is missing")
        return super().check_search(body)


class TakesTenOptions(Correct):
    kills = {"evidence/options-accepted": "a Search with 26 options was answered 422"}

    def check_search(self, body):
        search = super().check_search(body)
        if len(search.options) > 10:
            raise RefusedError(422, "too many options")
        return search


class FiltersByOptions(Correct):
    """Returns only what shares a word with an option."""

    kills = {
        "evidence/options-accepted": "does not find what the same Search without options finds"
    }
    risks = frozenset({"evidence/options-accepted"})

    def rank(self, search, memories):
        ranked = super().rank(search, memories)
        wanted = {word for word in self.words("\n".join(search.options)) if len(word) > 3}
        return [(s, m) for s, m in ranked if not wanted or wanted & m.words]


class ReturnsOptions(Correct):
    kills = {"evidence/options-never-returned": "in a result of the same Search"}

    def rank(self, search, memories):
        options = [
            (1.0, Memory(f"option-{i}", Message("user", option), "", frozenset()))
            for i, option in enumerate(search.options)
        ]
        return options + super().rank(search, memories)


class LearnsOptions(Correct):
    """Stores them as if they had been said."""

    kills = {"evidence/options-never-returned": "in a result of a later Search"}

    def rank(self, search, memories):
        ranked = super().rank(search, memories)
        for option in search.options:
            memories.append(
                Memory(f"o-{len(memories)}", Message("user", option), "", self.words(option))
            )
        return ranked


class AnswersItself(Correct):
    kills = {"evidence/generated-text": "shares no invented word with anything stored"}

    def rank(self, search, memories):
        text = "Based on our conversations, I believe that the answer is yes."
        answer = Memory("answer", Message("assistant", text), "", frozenset())
        return [(1.0, answer), *super().rank(search, memories)]


class QuotesAWordInItsAnswer(Correct):
    """Generated around what was found: no message, and yet of its words."""

    kills = {"evidence/generated-text": "a result shares no 6 words in a row with anything stored"}

    def rank(self, search, memories):
        ranked = super().rank(search, memories)
        names = " and ".join(sorted(w for _, m in ranked[:1] for w in m.words if len(w) > 4)[:3])
        text = f"It seems to me that {names} are what you are looking for."
        answer = Memory("answer", Message("assistant", text), "", frozenset())
        return [(1.0, answer), *ranked]


class SummarisesLast(Correct):
    """The last of its results is all of them at once."""

    kills = {"evidence/oversized-item": "result 21 alone has"}

    def rank(self, search, memories):
        ranked = super().rank(search, memories)
        text = "\n".join(memory.message.content for _, memory in ranked)
        summary = Memory("summary", Message("assistant", text), "", frozenset())
        return [*ranked, (0.0, summary)]


class ReturnsSessions(Correct):
    """One item is all of a session."""

    kills = {"evidence/oversized-item": "result 1 alone has"}

    def rank(self, search, memories):
        sessions = {}
        for score, memory in super().rank(search, memories):
            sessions.setdefault(memory.session_id, []).append((score, memory))
        return [
            (
                parts[0][0],
                Memory(
                    f"session-{parts[0][1].id}",
                    Message("user", "\n".join(m.message.content for _, m in parts)),
                    session,
                    frozenset(),
                ),
            )
            for session, parts in sessions.items()
        ]
