"""Mend what theme and Sphinx leave undone for keyboards and screen readers, in written pages."""

import re
from pathlib import Path

# A caption of the navigation says that it is a heading, and not of which rank.
_CAPTION = 'class="caption" role="heading"'
# What may scroll sideways must be reachable by the keyboard.
_PRE = re.compile(r"<pre>")
_TABLE = re.compile(r'<div class="table-wrapper([^"]*)">')
# Pictures of trees are wide: on a phone a tap opens one by itself, to be enlarged.
_PICTURE = re.compile(r'<p>(<img alt="[^"]+" src="([^"]+)" ?/>)')
# Lists of terms need terms: the parameters of a long signature are lines, without terms.
_SIGNATURE = re.compile(r'<dl>\n((?:<dd><em class="sig-param">.*</dd>\n)+)</dl>')


def mend(page: str) -> str:
    """The HTML of a page, mended."""
    page = page.replace(_CAPTION, f'{_CAPTION} aria-level="2"')
    page = _PRE.sub('<pre tabindex="0">', page)
    page = _TABLE.sub(r'<div class="table-wrapper\1" tabindex="0">', page)
    page = _PICTURE.sub(r'<p><a class="picture" href="\2">\1</a>', page)
    return _SIGNATURE.sub(lambda found: _lines(found[1]), page)


def _lines(parameters: str) -> str:
    lines = parameters.replace("<dd>", '<span class="sig-line">').replace("</dd>", "</span>")
    return f'<span class="sig-lines">{lines}</span>'


def mend_site(site: Path) -> None:
    """Mend every page below a folder."""
    for file in site.rglob("*.html"):
        file.write_text(mend(file.read_text("utf-8")), encoding="utf-8")
