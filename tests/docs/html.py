"""The built site as a browser sees it: links, ids, and what is loaded."""

import posixpath
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass
class Page(HTMLParser):
    path: Path
    ids: set = field(default_factory=set)
    links: list = field(default_factory=list)
    loaded: list = field(default_factory=list)

    def __post_init__(self):
        super().__init__()
        self.feed(self.path.read_text())

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "id" in given:
            self.ids.add(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in ("script", "img", "iframe") and given.get("src"):
            self.loaded.append(given["src"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preconnect"):
            self.loaded.append(given["href"])


class Site:
    """Pages by their path from the root, with slashes."""

    def __init__(self, root):
        self.root = root

    @cached_property
    def pages(self):
        found = sorted(self.root.rglob("*.html"))
        return {path.relative_to(self.root).as_posix(): Page(path) for path in found}

    def targets(self, path):
        """The links of a page within the site: as written, path from the root, fragment."""
        for link in self.pages[path].links:
            target = urlsplit(link)
            if not target.scheme:
                there = posixpath.join(posixpath.dirname(path), unquote(target.path))
                there = posixpath.normpath(there) if target.path else path
                there = "index.html" if there == "." else there
                yield link, there, unquote(target.fragment)

    def dead_links(self):
        """What leads nowhere, or to a place that the page there does not have."""
        for path in self.pages.keys() - {"404.html"}:
            for link, there, fragment in self.targets(path):
                page = self.pages.get(there)
                found = (self.root / there).exists() if page is None else True
                if not found or (fragment and page and fragment not in page.ids):
                    yield f"{path}: {link}"

    def loaded_from_elsewhere(self):
        for path, page in self.pages.items():
            yield from (f"{path}: {one}" for one in page.loaded if urlsplit(one).netloc)
