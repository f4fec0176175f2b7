"""Check a built site: every link and picture within it is there, also the anchors of pages.

``python docs/_ext/check_links.py build/docs`` prints what is dead, and then exits with 1. Sphinx
knows the links of its own markup; this sees what a browser sees, from the file system.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The anchors of a page, and where its links and pictures point to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Keep what the tag points to, and what can be pointed at."""
        if ("hidden", None) in attributes:  # nobody can follow it
            return
        for name, value in attributes:
            if not value:
                continue
            if name in ("href", "src"):
                self.targets.add(value)
            elif name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)


def dead_links(site: Path) -> list[str]:
    """Return a line for each link of a page that leads nowhere within the site."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    dead = []
    for path, page in pages.items():
        for target in sorted(page.targets):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue  # elsewhere
            found = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[found].anchors if found in pages else set()
            missing_anchor = found in pages and unquote(parts.fragment) not in {"", *anchors}
            if not found.is_file() or missing_anchor:
                dead.append(f"{path.relative_to(site.resolve())}: {target}")
    return dead


def main(site: Path) -> int:
    """Print dead links, and return how the program ends."""
    dead = dead_links(site)
    for line in dead:
        print(f"dead link in {line}")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
