"""List the studies: `make study` without a NAME."""

import ast
from pathlib import Path

FOLDER = Path(__file__).parent


def studies() -> dict[str, str]:
    """The first sentence of every study, by its name."""
    files = [file for file in FOLDER.glob("*.py") if not file.name.startswith("_")]
    named = {file.stem: file for file in files}
    named |= {file.parent.name: file for file in FOLDER.glob("*/__main__.py")}
    return {name: _first_sentence(named[name]) for name in sorted(named)}


def _first_sentence(file: Path) -> str:
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.partition("\n\n")[0]


def main() -> None:
    """Print a line a study."""
    print("make study NAME=... [ARGS=...] runs one of these:")
    for name, sentence in studies().items():
        print(f"  {name:<12} {sentence}")


if __name__ == "__main__":
    main()
