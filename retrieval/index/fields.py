"""The two indexes of a generation and their fields."""

from __future__ import annotations

import tantivy

PASSAGES, SENTENCES = "passages", "sentences"
TERM_FIELDS = ("exact", "lemma", "stem", "prefix")
"""Side by side, as `ner.text.terms` makes them; a query asks all of them."""
PHRASE_FIELD = "lemma"
"""The one field that knows the order of its terms."""
TITLE = "title"
"""Document name and page heading, as stems of lemmas; of passages alone."""
SYSTEM = "system"
WHITESPACE = "whitespace_terms"


def schema(kind: str) -> tantivy.Schema:
    """The schema of an index: terms for search, the system for filtering, the place as stored values."""
    builder = tantivy.SchemaBuilder()
    for name in (*TERM_FIELDS, TITLE) if kind == PASSAGES else TERM_FIELDS:
        kept = "position" if name == PHRASE_FIELD else "freq"
        builder.add_text_field(name, tokenizer_name=WHITESPACE, index_option=kept)
    builder.add_text_field(SYSTEM, tokenizer_name="raw", index_option="basic")
    for name in ("document_id", "page", "first", "last"):
        builder.add_integer_field(name, stored=True, fast=True)
    return builder.build()


def register_tokenizer(index: tantivy.Index) -> None:
    """Terms come ready and are cut at spaces alone. A tokenizer is not kept in the index: register it anew."""
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    index.register_tokenizer(WHITESPACE, builder.build())
