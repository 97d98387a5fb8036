"""The documentation as its readers use it: its programs and its commands."""

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
TUTORIAL = ROOT / "docs" / "tutorial.md"
_FILE_NAME = re.compile(r"# (\w+\.py)\n")


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    text: str

    @property
    def file_name(self):
        """The name in a program's first line, ``# my_memory.py``."""
        match = _FILE_NAME.match(self.text)
        return match[1] if match else None


def blocks():
    """Every fenced block of every page."""
    for page in PAGES:
        yield from blocks_of(page)


def blocks_of(page):
    """Every fenced block of one page."""
    for token in MarkdownIt().parse(page.read_text()):
        if token.type == "fence":
            yield Block(page, token.map[0] + 1, token.info.strip(), token.content)


def programs():
    """The Python files that a reader is told to write, by name."""
    return {b.file_name: b.text for b in blocks() if b.language == "python" and b.file_name}


def snippets():
    """Python blocks that are no files: each must run by itself."""
    return [b for b in blocks() if b.language == "python" and not b.file_name]


def commands():
    """Each shell command once, with the page and line where it stands first.

    Those of the tutorial are left to a test of its own, which runs them in order.
    """
    seen = {}
    for block in blocks():
        if block.language == "sh" and block.page != TUTORIAL:
            for number, line in enumerate(block.text.splitlines(), block.line + 1):
                seen.setdefault(line, f"{block.page.relative_to(ROOT)}:{number}")
    return [(where, line) for line, where in seen.items()]


def links(page):
    """Every target that a page links to."""
    for token in MarkdownIt().parse(page.read_text()):
        for child in token.children or ():
            if child.type == "link_open":
                yield child.attrs["href"]


def anchors(page):
    """The anchors of a page's headings, as hosts make them."""
    tokens = MarkdownIt().parse(page.read_text())
    for heading, inline in pairwise(tokens):
        if heading.type == "heading_open":
            words = re.sub(r"[^\w\- ]", "", inline.content.lower())
            yield words.replace(" ", "-")
