"""Hypothesis strategies for bodies of the contract, as JSON values."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

# A busy machine makes generation slow, which is no fault of the strategies.
steady = settings(
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)

Strategy = st.SearchStrategy[Any]

AWKWARD = [
    "\x00",
    " ",
    "\u00a0",
    "é",
    "e\u0301",
    "成都",
    "API配置",
    "🐝",
    "\u200d",
    "a\nb",
    "\ufeff",
    "\x7f",
]

texts = st.one_of(st.text(max_size=12), st.sampled_from(AWKWARD))
names = texts.filter(bool)
milliseconds = st.one_of(
    st.integers(0, 2**63 - 1),
    st.sampled_from([0, 86_400_000, 1_704_067_200_000, 253_402_214_400_000, 2**53 + 1, 2**63 - 1]),
)
scores = st.floats(allow_nan=False, allow_infinity=False)


def keys(required: dict[str, Strategy], **optional: Strategy) -> Strategy:
    """An object with all of the required keys and any of the optional ones."""
    return st.fixed_dictionaries(required, optional=optional)


text_parts = keys({"type": st.just("text"), "text": texts})
image_parts = keys({"type": st.just("image_url"), "image_url": keys({"url": texts})})
part_lists = st.lists(text_parts | image_parts, max_size=3)
contents = texts | part_lists
filled_contents = names | part_lists.filter(bool)

messages = keys({"role": names, "content": contents}, timestamp=milliseconds)
ids = {"request_id": names, "user_id": names, "session_id": names}
memories = keys({"id": names, "content": filled_contents}, score=scores, created_at=texts)

CANONICAL: dict[str, Strategy] = {
    "TextPart": text_parts,
    "ImageURL": keys({"url": texts}),
    "ImagePart": image_parts,
    "Message": messages,
    "AddRequest": keys({**ids, "messages": st.lists(messages, min_size=1, max_size=3)}),
    "AddResponse": keys({"success": st.just(value=True), **ids}),
    "SearchRequest": keys(
        {"query": filled_contents, "user_id": names, "top_k": st.integers(1, 2**31 - 1)},
        options=st.lists(texts, min_size=1, max_size=3),
    ),
    "Memory": memories,
    "SearchResponse": keys({"data": st.lists(memories, max_size=3)}),
    "HealthResponse": keys({}, status=texts),
    "ErrorDetail": keys({"reason": texts}),
    "ErrorResponse": keys({"detail": keys({"reason": texts})}),
}
"""Bodies as a model writes them: known keys only, nothing null, integers as integers."""

_atoms = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(["", "5", " ", "text", "image_url"]),
    st.sampled_from(
        [-1, 0, 1, 2**31, 2**63 - 1, 2**63, 10**30, -0.5, 0.0, 0.5, 1.0, 87.0, 1.9, 1e30]
    ),
    st.sampled_from([[], {}, [None], [""], [[]], [{}], [{"type": "text"}], [{"type": "audio"}]]),
)


@st.composite
def spoiled(draw: st.DrawFn, name: str) -> Any:
    """A canonical body in which up to three places were changed, dropped or added."""
    body = deepcopy(draw(CANONICAL[name]))
    for _ in range(draw(st.integers(0, 3))):
        holder, place = draw(st.sampled_from(_places(body) or [([None], 0)]))
        if draw(st.booleans()):
            holder[place] = deepcopy(draw(_atoms))
        elif isinstance(holder, dict) and draw(st.booleans()):
            holder[draw(st.sampled_from(["extra", "type", "text", "score", "options"]))] = draw(
                _atoms
            )
        else:
            del holder[place]
    return body


def _places(value: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for place, inner in items:
        found.append((value, place))
        if isinstance(inner, (dict, list)):
            found += _places(inner)
    return found
