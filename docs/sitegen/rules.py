"""A page for each rule, in the form *what it does · why · example · fix*, and their index."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from aml_contract.report.coverage import Line
from aml_contract.report.explanation import cost_words, doc_of, when_words
from aml_contract.rule import Rule
from sitegen.examples import Example, Step
from sitegen.markdown import cell, escaped, fenced

INDEX = "rules/index.md"
_INTRODUCTION = (
    "The kit tries {} rules. A broken **MUST** ends a run on the platform, or loses or leaks "
    "data. A broken **SHOULD** has hurt real runs; it is a warning, and fails only under "
    "`--strict`. A **MAY** is worth knowing. `aml explain RULE` says the same as a rule's page."
)


def page_of(rule: str) -> str:
    """Where the page of a rule is, from the root of the site."""
    return f"rules/{rule}.md"


def rule_pages(
    rules: Sequence[Rule], modes: Mapping[int, Line], known: Mapping[str, Example]
) -> Iterator[tuple[str, str]]:
    """Path and text of the page of each rule, and of their index."""
    yield INDEX, _index(rules)
    for rule in rules:
        yield page_of(rule.name), _page(rule, modes, known.get(rule.name))


def navigation(rules: Sequence[Rule]) -> list[object]:
    """The rules by family, as the site's navigation lists them."""
    families = [
        {family: [{rule.name.partition("/")[2]: page_of(rule.name)} for rule in members]}
        for family, members in _families(rules)
    ]
    return [INDEX, *families]


def clause_links(clauses: Iterable[str], root: str) -> str:
    """Links to clauses of the wire contract, from a page that is ``root`` away from the root."""
    return ", ".join(f"[{each}]({root}wire-contract.md#{each.lower()})" for each in clauses)


def _families(rules: Sequence[Rule]) -> Iterator[tuple[str, list[Rule]]]:
    for family, members in groupby(rules, key=lambda rule: rule.family):
        yield family, list(members)


def _index(rules: Sequence[Rule]) -> str:
    parts = ["# Rules", _INTRODUCTION.format(len(rules))]
    for family, members in _families(rules):
        rows = ["| rule | level | what a conforming endpoint does |", "| --- | --- | --- |"]
        for rule in members:
            link = f"[{rule.name.partition('/')[2]}]({rule.name}.md)"
            rows.append(f"| {link} | {rule.level} | {cell(rule.title)} |")
        parts += [f"## {family}", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


def _page(rule: Rule, modes: Mapping[int, Line], example: Example | None) -> str:
    clauses = clause_links(rule.clauses, "../../")
    plural = "s" if len(rule.clauses) > 1 else ""
    parts = [
        f"# {rule.name}",
        f"**{rule.level}** · clause{plural} {clauses}",
        "## What it does",
        escaped(rule.title),
        escaped(doc_of(rule)),
        "## Why",
        escaped(rule.why),
        *_example(example),
        "## Fix",
        escaped(rule.fix),
        "## How it is tried",
        _facts(rule),
        fenced(f"aml check --only {rule.name}", "sh"),
        *_seen(rule, modes),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _facts(rule: Rule) -> str:
    facts = [
        f"It sends {cost_words(rule.cost)}, {when_words(rule)}.",
        rule.needs and f"It needs {_listed(rule.needs)}: see [hooks](../../cli.md#aml-check).",
        rule.capabilities and f"It applies only with {_listed(rule.capabilities)}.",
        rule.transport == "raw" and "It writes bytes to the socket itself.",
    ]
    return " ".join(fact for fact in facts if fact)


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in sorted(words))


def _seen(rule: Rule, modes: Mapping[int, Line]) -> list[str]:
    if not rule.modes:
        return []
    lines = [
        f"- [{mode}](../../failure-modes.md#mode-{mode}): {escaped(modes[mode].title)}"
        for mode in rule.modes
        if mode in modes
    ]
    return ["## Seen in the wild", "\n".join(lines)] if lines else []


def _example(example: Example | None) -> list[str]:
    if example is None:
        return []
    server = f"A server of the kit's own tests, `{example.server}`, breaks this rule."
    wrong = escaped(example.wrong)
    return [
        "## Example",
        " ".join(part for part in (server, wrong) if part),
        f'!!! failure "What the kit says"\n\n{_indented(_paragraphs(example.message))}',
        *(_step(number, step) for number, step in enumerate(example.exchanges, 1)),
    ]


def _step(number: int, step: Step) -> str:
    sent = f"{step.sent}\n\n{_readable(step.body)}" if step.body else step.sent
    got = f"{step.answer}\n\n{_readable(step.reply)}" if step.reply else step.answer
    inside = f"{fenced(sent, 'text')}\n\n{fenced(got, 'text')}"
    title = f"Step {number}: {step.sent} → {step.answer}".replace('"', "'")
    return f'??? example "{title}"\n\n{_indented(inside)}'


def _paragraphs(message: str) -> str:
    """Each line of a message by itself, wrapped where it is long."""
    return "\n\n".join(escaped(line) for line in message.splitlines() if line.strip())


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.splitlines())


def _readable(body: str) -> str:
    """JSON on several lines; anything else as it is."""
    try:
        return json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    except ValueError:
        return body
