"""Which tests prove which rule: writes docs/rules.md, or checks it.

    .venv/bin/python tests/docs/rule_table.py            write docs/rules.md
    .venv/bin/python tests/docs/rule_table.py --check    say what lacks, and exit with 1

A test names the rules that it proves: `test_r3_7_…`, `test_r4_8_r5_5_…`, `test_r4_3a_…`, `test_r1_3_to_r1_5_…`.
The rules stand in rules.txt beside this file.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "rules.md"
COMMAND = ".venv/bin/python tests/docs/rule_table.py"

_RULE = re.compile(r"(?:_to)?_r(\d+)_(\d+)(a?)(?=_|$)")

HEAD = f"""# Rules, and the tests that prove them

A test has the numbers of its rules in its name. This page is written by `{COMMAND}`; the rules stand in
[tests/docs/rules.txt](../tests/docs/rules.txt).

| rule | what holds | proved by |
| --- | --- | --- |
"""


def stated_rules() -> dict[str, str]:
    """The statement of each rule, in the order of the file."""
    lines = Path(__file__).with_name("rules.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split(" ", 1) for line in lines if line)


def rules_named(test: str, known: Sequence[str]) -> list[str]:
    """The rules in a test's name; `r1_3_to_r1_5` names all between, by their order in `known`."""
    found: list[str] = []
    place = len("test")
    while match := _RULE.match(test, place):
        rule = f"R{match[1]}.{match[2]}{match[3]}"
        if match[0].startswith("_to") and found and rule in known and found[-1] in known:
            found.extend(known[known.index(found[-1]) + 1 : known.index(rule)])
        found.append(rule)
        place = match.end()
    return found


def proofs(folder: Path, known: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """For each rule the tests that name it, by file."""
    found: dict[str, dict[str, list[str]]] = {rule: {} for rule in known}
    for file in sorted(folder.rglob("test_*.py")):
        for test in _tests(ast.parse(file.read_text(encoding="utf-8"))):
            for rule in rules_named(test, known):
                if rule in found:
                    found[rule].setdefault(file.relative_to(ROOT).as_posix(), []).append(test)
    return found


def page(rules: Mapping[str, str], found: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """The text of docs/rules.md."""
    return HEAD + "".join(f"| {rule} | {text} | {_cell(found[rule])} |\n" for rule, text in rules.items())


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Which tests prove which rule.")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit with 1 when something lacks"
    )
    check: bool = parser.parse_args(arguments).check
    rules = stated_rules()
    found = proofs(ROOT / "tests", list(rules))
    text = page(rules, found)
    faults = [f"{rule} has no test: {rules[rule]}" for rule in rules if not found[rule]]
    if not check:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text:
        faults.append(f"{PAGE.relative_to(ROOT)} is out of date; run {COMMAND}")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


def _tests(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_"):
            yield node.name


def _cell(files: Mapping[str, Sequence[str]]) -> str:
    parts = [
        f"[{file.removeprefix('tests/')}](../{file}): {', '.join(tests)}" for file, tests in files.items()
    ]
    return "<br>".join(parts) or "nothing yet"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
