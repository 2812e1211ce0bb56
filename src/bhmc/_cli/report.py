"""`bhmc report`: a page of HTML about a run."""

from pathlib import Path

from bhmc._cli.export import put_in_place, said_where
from bhmc._cli.show import load_run
from bhmc._extras import import_matplotlib
from bhmc._validation.errors import RefusedError, refusals

_PAGE = "report.html"


def report(options) -> int:
    """Write the page."""
    folder, record, model = load_run(options.folder)
    path = folder.path / _PAGE if options.output is None else Path(options.output)
    if path.suffix.lower() not in (".html", ".htm"):
        raise RefusedError(f"{path} should end in .html: the report is a page.")
    with refusals():
        import_matplotlib("bhmc report").use("Agg")  # no window, also where there is no screen
    file = record.get("data", {}).get("file")
    title = f"Clusters of {file}" if file else None
    put_in_place(path, lambda part: model.report(part, title=title))
    return said_where(options, path)
