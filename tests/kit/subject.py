"""A small server for tests of the kit itself: raw ASGI, in memory, with a few switches.

Started as users start theirs: ``python -m tests.kit.subject --port {port} [SWITCH…]``.
Switches: ``slow`` (0.2 s an Add), ``lose`` (stores nothing), ``crash`` (exits on the fifth
Add), ``refuse`` (422 for every Add), ``busy`` (429 for every Add), ``cold`` (0.5 s for the first
Search), ``closed`` (exits at once), ``raise`` (500 for every Add, its reason in the log),
``page`` (200 and HTML for everything), ``shout`` (ids come back in capitals).
"""

import argparse
import asyncio
import json
import os
import sys

import uvicorn

SWITCHES = set()
STORE = {}
STATS = {"adds": 0, "searches": 0, "in_flight": 0, "most": 0}
KEY = os.environ.get("SUBJECT_KEY")


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    STATS["in_flight"] += 1
    STATS["most"] = max(STATS["most"], STATS["in_flight"])
    try:
        status, reply = await answer(scope, body)
    except (LookupError, TypeError, ValueError):
        status, reply = 500, {"detail": {"reason": "an error"}}
    finally:
        STATS["in_flight"] -= 1
    if "page" in SWITCHES:
        status, reply = 200, "<html>Welcome</html>"
    head = [(b"content-type", b"text/html" if "page" in SWITCHES else b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": head})
    text = reply if isinstance(reply, str) else json.dumps(reply)
    if scope["method"] == "HEAD":
        text = ""
    await send({"type": "http.response.body", "body": text.encode()})


async def answer(scope, body):
    path = scope["path"]
    if path == "/health":
        return 200, {"status": "ok"}
    if path == "/stats":
        return 200, STATS
    if scope["method"] == "HEAD":
        return 200, {}
    if KEY and dict(scope["headers"]).get(b"authorization") != f"Bearer {KEY}".encode():
        return 401, {"detail": {"reason": "no"}}
    if path == "/nowhere":
        return 404, {"detail": {"reason": "no such path"}}
    request = json.loads(body)
    if path == "/add":
        STATS["adds"] += 1
        if "raise" in SWITCHES:
            print("sqlite3.OperationalError: database is locked", flush=True)
            return 500, {"detail": {"reason": "an error"}}
        if "crash" in SWITCHES and STATS["adds"] == 5:
            print("out of memory, good bye", flush=True)
            os._exit(7)
        if "busy" in SWITCHES:
            return 429, {"detail": {"reason": "later"}}
        if "refuse" in SWITCHES:
            return 422, {"detail": {"reason": "I refuse"}}
        if "slow" in SWITCHES:
            await asyncio.sleep(0.2)
        if "lose" not in SWITCHES:
            for m in request["messages"]:
                STORE.setdefault(request["user_id"], []).append(m["content"])
        ids = {k: request[k] for k in ("request_id", "user_id", "session_id")}
        if "shout" in SWITCHES:
            ids = {k: value.upper() for k, value in ids.items()}
        return 200, {"success": True, **ids}
    STATS["searches"] += 1
    if "cold" in SWITCHES and STATS["searches"] == 1:
        await asyncio.sleep(0.5)
    found = STORE.get(request["user_id"], [])[-request["top_k"] :]
    data = [{"id": str(i), "content": c} for i, c in enumerate(found)]
    return 200, {"data": data}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("switches", nargs="*")
    args = parser.parse_args()
    SWITCHES.update(args.switches)
    if "closed" in SWITCHES:
        sys.exit("no configuration found")
    uvicorn.run(app, port=args.port, log_level="warning", access_log=False)
