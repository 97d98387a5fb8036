"""Bodies: what is sent, as most clients write it."""

from __future__ import annotations

import json
from typing import Any


def dump(body: Any) -> bytes:
    """JSON as most clients write it; text stays UTF-8, lone surrogates are escaped."""
    text = json.dumps(body, ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(body).encode()
