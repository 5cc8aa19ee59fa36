"""HTML → readable text: what a reader of the page sees, without scripts, styles and menus."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from pipelines.formats.contract import FormatError

UNSEEN = "script, style, noscript, template, nav, head, svg, iframe, object, [hidden], [aria-hidden=true]"
_BLOCKS = frozenset(
    "address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hr li main ol p pre section summary table tbody tfoot thead tr ul".split()
)
DEEPEST = 10_000
"""Elements within elements."""
_NESTING = re.compile(r"<(/?)(?:div|span|table|ul|ol|blockquote|section|article|font|[bi])\b", re.I)
_PARAGRAPHS = frozenset("article blockquote h1 h2 h3 h4 h5 h6 p pre section table ul ol dl".split())


def read_html(markup: str) -> tuple[str | None, str]:
    """Title (or else the first `h1`) and text.

    Paragraphs are apart by a blank line, a table's cells by tabs; `pre` keeps its lines.
    Raises FormatError (`malformed`) for a page nested without end.
    """
    _refuse_deep(markup)
    tree = LexborHTMLParser(markup)
    titles = (tree.css_first(tag) for tag in ("title", "h1"))
    name = next((text for title in titles if title and (text := " ".join(title.text().split()))), None)
    for node in tree.css(UNSEEN):
        node.decompose()
    text = "".join(_pieces(tree.body)) if tree.body else ""
    lines = (
        re.sub(r" ?\t ?", "\t", re.sub(r"[ \r\f\v]+", " ", line)).strip(" \t") for line in text.split("\n")
    )
    return name, re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def _refuse_deep(markup: str) -> None:
    """The parser takes quadratic time in the depth, and no page that people read goes so deep."""
    if markup.count("<") <= DEEPEST:
        return
    depth = 0
    for tag in _NESTING.finditer(markup):
        depth = max(depth - 1, 0) if tag[1] else depth + 1
        if depth > DEEPEST:
            raise FormatError("malformed", f"elements are nested more than {DEEPEST} deep")


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
