"""Short ways of saying an Add and a Search."""

from aml_sdk._gen.models import AddRequest, Message, SearchRequest

DAY = 86_400_000


def request(user, request_id, session, *contents, start=None):
    return AddRequest(
        user_id=user,
        request_id=request_id,
        session_id=session,
        messages=[
            Message(
                role="user",
                content=content,
                timestamp=None if start is None else start + number * 1_000,
            )
            for number, content in enumerate(contents)
        ],
    )


def add(memory, user, request_id, *contents, session="s", start=None):
    memory.add(request(user, request_id, session, *contents, start=start))


def search(memory, user, query, top_k=100, options=None):
    return memory.search(SearchRequest(user_id=user, query=query, top_k=top_k, options=options))


def contents(found):
    return [each.content for each in found]


FILLER = (
    "The kettle whistled through the whole song.",
    "Nobody remembers who painted the shed green.",
    "Rain kept the ferry in its harbour until noon.",
    "A parcel of walnuts came without a letter.",
    "Their piano needs a new pedal and some patience.",
    "Marble stairs are cold under bare feet.",
)
