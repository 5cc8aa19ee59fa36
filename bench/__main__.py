"""All measurements on the evaluation data, one after the other: `make bench`."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

RETRIEVAL = (
    "hu_ret_nerkor_entity",
    "hu_ret_hurte",
    "en_multihop_musique100",
    "en_multihop_hotpot100",
    "en_multihop_2wiki101",
)


def main() -> None:
    """Run each measurement as if by itself."""
    data = Path(os.environ.get("TUDASTAR_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not data.is_dir():
        sys.exit(f"evaluation data is not there: set TUDASTAR_TEST_DATA or lay it at {data}")
    devel = str(data / "hu_ner_nerkor" / "devel.jsonl")
    runs = [
        ("bench.sentences", [devel]),
        ("bench.name_lemmas", [devel]),
        ("bench.retrieval_quality", [str(data / name) for name in RETRIEVAL]),
        ("bench.chat_overhead", []),
        ("bench.open_streams", []),
        ("bench.ingestion", [str(data / "hu_novels" / "egri_csillagok.txt")]),
    ]
    for module, arguments in runs:
        print(f"\n== {module}", flush=True)
        sys.argv = [module, *arguments]
        runpy.run_module(module, run_name="__main__")


if __name__ == "__main__":
    main()
