"""Settings of the documentation site. `docs.site.build` writes the sources that Sphinx reads.

Nothing is loaded from other hosts: theme, search and code colours are files of the site itself.
"""

import inspect
import re

import bhmc

project = "bhmc"
author = copyright = "the bhmc authors"
version = release = bhmc.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns: list[str] = []
root_doc = "index"
language = "en"

# Pages are plain Markdown. Sections are named as code hosts name them, so that links work in both.
myst_heading_anchors = 4

# One backtick in a docstring: a link where the name is one of bhmc's, else code.
default_role = "py:obj"
# A bare name such as `n_components`, which several classes have, is code that links to one of them.
suppress_warnings = ["ref.python"]
napoleon_google_docstring = False
napoleon_numpy_docstring = True
napoleon_use_rtype = False
napoleon_use_ivar = True  # a property that "Attributes" also names is no second object
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say what an argument is
autodoc_default_options = {"members": True, "inherited-members": True}
maximum_signature_line_length = 80
python_display_short_literal_types = True
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"bhmc {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
# Friendly and monokai miss the contrast that WCAG asks for.
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"


def _is_foreign(app, what, name, member, skip, options):
    """Leave out what scikit-learn and tuples bring along: their own pages describe it."""
    target = inspect.unwrap(getattr(member, "fget", None) or getattr(member, "func", member))
    module = getattr(target, "__module__", None)
    if what == "class" and module is not None and not module.startswith("bhmc"):
        return True
    # Methods of tuples, and fields whose only words are "Alias for field number 0".
    of_tuples = name in ("count", "index") and inspect.ismethoddescriptor(member)
    is_field = (getattr(member, "__doc__", None) or "").startswith("Alias for field")
    return True if of_tuples or is_field else skip


# A bar that opens a substitution, and an underscore that ends a word.
_MARKUP = re.compile(r"(?<!\\)\||(?<=\w)_(?!\w)")


def _as_written(app, what, name, value, options, lines):
    """Let formulas of docstrings be: `|A & B|` is no substitution, and `labels_` is no link."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...", "..")):
            outside = re.split(r"(`[^`]*`)", line)
            outside[::2] = [_MARKUP.sub(r"\\\g<0>", part) for part in outside[::2]]
            lines[i] = "".join(outside)


def setup(app):
    """Connect the filter of inherited members and, after Napoleon, the one of docstrings."""
    app.connect("autodoc-skip-member", _is_foreign)
    app.connect("autodoc-process-docstring", _as_written, priority=900)
