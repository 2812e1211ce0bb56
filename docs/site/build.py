"""Build the documentation site: `make docs` writes it to build/site.

The pages of docs/ read well on a code host, where no directive is known. So the sources of the site
are copies of these pages, made here, with three changes: docs/index.md, the map, becomes the
navigation; links to files above docs/ lead to their copies; pages of the reference are added.
"""

import re
import shutil
import sys
from pathlib import Path

from docs.site.accessible import mend_site
from docs.site.reference import ROOMS, page_of_room

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SOURCES = ROOT / "build" / "site-sources"
SITE = ROOT / "build" / "site"

# Pages above docs/, and what they are called in the site.
PAGES_ABOVE = {
    "README.md": "readme.md",
    "CONTRIBUTING.md": "contributing.md",
    "VISION.md": "vision.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "reporting.md",  # not security.md: docs/ has a page of that name
}
FILES_ABOVE = ["CITATION.cff", "LICENSE"]


def stage(folder: Path = SOURCES) -> Path:
    """Write the sources of the whole site into a folder, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("conf.py", "static"):
        copy = shutil.copytree if (DOCS / "site" / name).is_dir() else shutil.copy
        copy(DOCS / "site" / name, folder / name)
    for beside in ("pictures", "images", "notebooks"):
        shutil.copytree(DOCS / beside, folder / beside)
    for name in FILES_ABOVE:
        shutil.copy(ROOT / name, folder / name)
    for page in [*DOCS.glob("*.md"), *DOCS.glob("gallery/*.md")]:
        _write(folder / page.relative_to(DOCS), links_from_docs(page.read_text("utf-8")))
    for above, name in PAGES_ABOVE.items():
        _write(folder / name, links_from_above((ROOT / above).read_text("utf-8")))
    vision = folder / "vision.md"
    _write(vision, "# What bhmc will never be\n\n" + vision.read_text("utf-8"))
    for room in ROOMS:
        _write(folder / "reference" / f"{room.file}.md", page_of_room(room))
    index, gallery = folder / "index.md", folder / "gallery" / "index.md"
    _write(index, with_navigation(with_reference(index.read_text("utf-8"))))
    _write(gallery, with_contents(gallery.read_text("utf-8")))
    return folder


def links_from_docs(text: str) -> str:
    """`](../README.md` and the like lead to the copies; the folder of a page stays what it is."""
    for above, name in PAGES_ABOVE.items():
        text = re.sub(rf"\]\(((?:\.\./)*)\.\./{re.escape(above)}", rf"](\g<1>{name}", text)
    for above in FILES_ABOVE:
        text = re.sub(rf"\]\(((?:\.\./)*)\.\./{above}\)", rf"](\g<1>{above})", text)
    return text


def links_from_above(text: str) -> str:
    """`](docs/page.md` becomes `](page.md`, and `](VISION.md` becomes `](vision.md`."""
    text = text.replace("](docs/", "](")
    for above, name in PAGES_ABOVE.items():
        text = re.sub(rf"\]\({re.escape(above)}", f"]({name}", text)
    return text


def with_navigation(index: str) -> str:
    """The map, and after it the same as a hidden tree of contents: a caption for each section."""
    trees = []
    for section in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        caption, _, body = section.partition("\n")
        trees += _contents(body, f":caption: {caption}")
    return "\n".join([index, *trees])


def with_reference(index: str) -> str:
    """The map with a section for the reference, whose pages only the site has."""
    lines = "".join(f"- [{room.title}](reference/{room.file}.md)\n" for room in ROOMS)
    return index.replace("## Experiments", f"## Reference\n\n{lines}\n## Experiments")


def with_contents(page: str) -> str:
    """A page, and the pages that it links to below it."""
    return "\n".join([page, *_contents(page)])


def _contents(text: str, *options: str) -> list[str]:
    pages = dict.fromkeys(re.findall(r"\]\(([\w/-]+)\.md\)", text))
    tree = "\n".join(["```{toctree}", ":hidden:", *options, "", *pages, "```", ""])
    return [tree] if pages else []


def build(sources: Path = SOURCES, site: Path = SITE) -> int:
    """Run Sphinx; a warning fails the build. Returns the exit code."""
    from sphinx.cmd.build import main as sphinx

    quiet = ["--quiet", "--fail-on-warning", "--keep-going"]
    doctrees = sources.parent / f"{sources.name}-read"
    shutil.rmtree(doctrees, ignore_errors=True)
    shutil.rmtree(site, ignore_errors=True)
    code = sphinx(["-b", "html", *quiet, "-d", str(doctrees), str(sources), str(site)])
    mend_site(site)
    return code


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def main() -> int:
    """Stage, build and say where the site is."""
    code = build(stage())
    if code == 0:
        print(f"The site is in {SITE.relative_to(ROOT)}: open {SITE.relative_to(ROOT)}/index.html.")
    return code


if __name__ == "__main__":
    sys.exit(main())
