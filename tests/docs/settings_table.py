"""All settings of the server: writes docs/settings.md out of the settings' own descriptions, or checks it.

.venv/bin/python tests/docs/settings_table.py            write docs/settings.md
.venv/bin/python tests/docs/settings_table.py --check    exit with 1 when it is out of date
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from serving.settings import Settings

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "settings.md"
COMMAND = ".venv/bin/python tests/docs/settings_table.py"
HEAD = f"""# Settings of the server

Environment variables; nested ones have two underscores. This page is written by `{COMMAND}`.

| variable | meaning | default |
| --- | --- | --- |
"""


def rows(model: type[BaseModel], prefix: str) -> Iterator[str]:
    """A row for each setting, nested ones in their place."""
    told = descriptions(model)
    for name, field in model.model_fields.items():
        variable = f"{prefix}{name.upper()}"
        if isinstance(field.default, BaseModel):
            yield from rows(type(field.default), f"{variable}__")
        elif field.default_factory:
            yield f"| `{variable}__…` | {told[name]} |  |"
        else:
            default = "" if field.default in (None, ()) else f"`{field.default}`"
            yield f"| `{variable}` | {told[name]} | {default} |"


def descriptions(model: type[BaseModel]) -> dict[str, str]:
    """What stands below each field in the source; raises KeyError later for a field without."""
    lines = inspect.getsource(model).splitlines()
    return {
        field.split(":")[0].strip(): told.strip().strip('"')
        for field, told in pairwise(lines)
        if ":" in field and told.strip().startswith('"""')
    }


def page() -> str:
    """The whole page."""
    return HEAD + "\n".join(rows(Settings, "TUDASTAR_")) + "\n"


def main() -> Any:
    """Write or check; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        PAGE.write_text(page(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page():
        return f"docs/settings.md is out of date; run {COMMAND}"
    return None


if __name__ == "__main__":
    sys.exit(main())
