"""Markdown → readable text: the words without the marks."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"<!--.*?-->", re.S)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*\n?", re.M)
_TABLE_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*\n?", re.M)
_TABLE_ROW = re.compile(r"^[ \t]*\|(.+)\|[ \t]*$", re.M)
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$", re.M)
_QUOTE = re.compile(r"^[ \t]{0,3}(?:>[ \t]?)+", re.M)
_IMAGE = re.compile(r"!\[([^\]\n]*)\]\([^)\n]*\)")
_LINK = re.compile(r"\[([^\]\n]+)\](?:\([^)\n]*\)|\[[^\]\n]*\])")
_LINK_TARGET = re.compile(r"^[ \t]{0,3}\[[^\]\n]+\]:[ \t]+\S+.*\n?", re.M)
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^>\s]+)>")
_EMPHASIS = re.compile(
    r"(?<![\w*\\])(\*{1,3})(?=\S)([^*\n]+?)(?<=[^\s\\])\1(?![\w*])|(?<!\w)(_{1,3})(?=\S)([^_\n]+?)(?<=\S)\3(?!\w)"
)
_CODE = re.compile(r"(`+)([^`\n]+)\1")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|>~])")
_STRUCK = re.compile(r"~~([^~\n]+)~~")


def readable(markdown: str) -> str:
    """The text as a reader sees it: headings and list items on lines of their own, cells apart by tabs."""
    text = _COMMENT.sub("", markdown)
    text = _FENCE.sub("", text)
    text = _TABLE_RULE.sub("", text)
    text = _TABLE_ROW.sub(lambda row: "\t".join(cell.strip() for cell in row[1].split("|")), text)
    text = _HEADING.sub(r"\1", text)
    text = _QUOTE.sub("", text)
    text = _LINK_TARGET.sub("", text)
    text = _IMAGE.sub(r"\1", text)
    text = _LINK.sub(r"\1", text)
    text = _AUTOLINK.sub(r"\1", text)
    text = _CODE.sub(r"\2", text)
    text = _STRUCK.sub(r"\1", text)
    for _ in range(2):
        text = _EMPHASIS.sub(lambda found: found[2] or found[4], text)
    return _ESCAPE.sub(r"\1", text)
