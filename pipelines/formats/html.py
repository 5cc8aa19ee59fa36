"""HTML → readable text: what a reader of the page sees, without scripts, styles and menus."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

UNSEEN = "script, style, noscript, template, nav, head, svg, iframe, object, [hidden], [aria-hidden=true]"
_BLOCKS = frozenset(
    "address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hr li main ol p pre section summary table tbody tfoot thead tr ul".split()
)
_PARAGRAPHS = frozenset("article blockquote h1 h2 h3 h4 h5 h6 p pre section table ul ol dl".split())


def read_html(markup: str) -> tuple[str | None, str]:
    """Title and text: paragraphs apart by a blank line, a table's cells by tabs, `pre` with its lines."""
    tree = LexborHTMLParser(markup)
    title = tree.css_first("title")
    name = " ".join(title.text().split()) if title else ""
    for node in tree.css(UNSEEN):
        node.decompose()
    text = "".join(_pieces(tree.body)) if tree.body else ""
    lines = (re.sub(r"[ \r\f\v]+", " ", line).strip(" \t") for line in text.split("\n"))
    return name or None, re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def _pieces(root: LexborNode) -> Iterator[str]:
    """The text of a subtree, walked without recursion: pages may nest as deep as they like."""
    stack: list[LexborNode | str] = [root]
    preformatted = 0
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            preformatted -= node == "</pre>"
            yield "" if node == "</pre>" else node
            continue
        tag = node.tag
        if tag == "-text":
            text = node.text_content or ""
            yield text if preformatted else re.sub(r"\s+", " ", text)
            continue
        if tag == "br":
            yield "\n"
            continue
        after: list[LexborNode | str] = ["\n\n" if tag in _PARAGRAPHS else "\n"] if tag in _BLOCKS else []
        if tag in ("td", "th"):
            after.append("\t")
        if tag == "pre":
            preformatted += 1
            after.append("</pre>")
        if tag in _BLOCKS:
            yield "\n\n" if tag in _PARAGRAPHS else "\n"
        stack.extend(after)
        stack.extend(reversed(list(node.iter(include_text=True))))
