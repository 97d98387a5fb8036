"""What a broken answer to each rule looks like, for the rule's page of the documentation.

``python -m tests.docs.examples`` records what is missing or no longer so, on the broken servers
that the rules must fail, and drops what no rule asks for; ``--all``, or the names of rules,
records anew.
"""

import argparse
import json
import re
from urllib.parse import urlsplit

from aml_contract.rule import all_rules
from sitegen.examples import FILE
from tests.broken import servers
from tests.broken.serving import judge, managed
from tests.broken.test_killers import on_one_server

MOST = 3
"""Exchanges that are kept of one finding: the last ones, which show it."""
LONGEST = 700
"""Characters that are kept of a body."""
_OWN_ORIGIN = re.compile(r"http://127\.0\.0\.1:\d+")


def killer_of(rule):
    """The first server that must fail the rule, or is at least warned by it."""
    killing = [name for name, server in servers().items() if rule in server.kills]
    severe = [name for name in killing if rule not in servers()[name].risks]
    return next(iter(severe or killing), None)


def example(rule):
    """What the rule finds on its killer, or nothing where it has none."""
    name = killer_of(rule.name)
    if name is None:
        return None
    found = judge([rule], **managed(name)) if rule.needs else on_one_server(name)
    result = found[rule.name]
    return {
        "server": name,
        "wrong": " ".join((servers()[name].__doc__ or "").split()),
        "message": shortened(result.message),
        "exchanges": [shown(each) for each in result.exchanges[-MOST:]],
    }


def holds(rule, recorded):
    """Whether what was recorded is still what its server must be told."""
    server = recorded and servers().get(recorded["server"])
    return bool(server) and server.kills.get(rule, "\0") in recorded["message"]


def shown(exchange):
    place = urlsplit(exchange.url)
    target = place.path + (f"?{place.query}" if place.query else "")
    return {
        "sent": f"{exchange.method} {target}",
        "body": shortened(exchange.body),
        "answer": str(exchange.status) if exchange.status else exchange.error or "no answer",
        "reply": shortened(exchange.reply),
    }


def shortened(text):
    text = _OWN_ORIGIN.sub("http://127.0.0.1:8080", text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.docs.examples")
    parser.add_argument("rule", nargs="*", help="record these anew")
    parser.add_argument("--all", action="store_true", help="record all of them anew")
    chosen = parser.parse_args()
    kept = json.loads(FILE.read_text()) if FILE.exists() and not chosen.all else {}
    made = {}
    for rule in all_rules():
        if rule.name not in chosen.rule and holds(rule.name, kept.get(rule.name)):
            made[rule.name] = kept[rule.name]
            continue
        print(rule.name, flush=True)
        if found := example(rule):
            made[rule.name] = found
    FILE.write_text(json.dumps(made, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
