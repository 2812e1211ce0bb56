"""The recipe for conda-forge with version and digest: `python -m release.conda_recipe`."""

import hashlib

from release.distributions import distributions, version
from release.environments import ROOT, WORK, say

TEMPLATE = ROOT / "release" / "conda" / "recipe.yaml"


def filled(text: str, number: str, digest: str) -> str:
    """The recipe of one version.

    Parameters
    ----------
    text : str
        The recipe with the words VERSION and SHA256 in it.
    number, digest : str
        What to put in their place.
    """
    for word, value in (('"VERSION"', f'"{number}"'), ('"SHA256"', f'"{digest}"')):
        if text.count(word) != 1:
            raise SystemExit(f"release/conda/recipe.yaml must hold {word} once.")
        text = text.replace(word, value)
    return text


def main() -> None:
    """Write `build/release/recipe.yaml` for the sdist in `dist`."""
    sdist, _ = distributions()
    digest = hashlib.sha256(sdist.read_bytes()).hexdigest()
    text = filled(TEMPLATE.read_text("utf-8"), version(), digest)
    (WORK / "recipe.yaml").write_text(text, encoding="utf-8")
    say("The recipe for conda-forge, with version and SHA-256, is in build/release/recipe.yaml.")


if __name__ == "__main__":
    main()
