"""`bhmc report`: a page of HTML about a run."""

from pathlib import Path

from bhmc._cli.explore import write_explorer
from bhmc._cli.export import put_in_place, said_where
from bhmc._cli.show import load_run
from bhmc._estimator.report import write_report
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
    beside = path.with_name(f"{path.stem}-explorer.html")
    write_explorer(beside, model, record)  # before the page that links to it
    put_in_place(path, lambda part: write_report(model, part, title, explorer=beside.name))
    return said_where(options, path)
