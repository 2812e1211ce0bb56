"""A tree of a million items, and how long a browser's main thread works for a frame of it."""

import json
from itertools import pairwise

import numpy as np

from bhmc import Tree

_NODES_OF_LEVELS = (1, 12, 80, 400, 1500, 3007)


def large_tree(n_items: int = 1_000_000, seed: int = 18) -> Tree:
    """A skewed tree of 5,000 nodes: few branches and leaves hold most items."""
    rng = np.random.default_rng(seed)
    parents, first = [-1], 0
    for above, here in pairwise(_NODES_OF_LEVELS):
        share = 1 / np.arange(1, above + 1)
        # Every node has a child, the rest go where many are: no branch ends early.
        more = rng.choice(above, here - above, p=share / share.sum())
        parents += [*(first + np.arange(above)), *(first + more)]
        first += above
    n_leaves = _NODES_OF_LEVELS[-1]
    share = rng.lognormal(sigma=2.0, size=n_leaves)
    more = rng.choice(n_leaves, n_items - n_leaves, p=share / share.sum())
    tips = first + np.concatenate([np.arange(n_leaves), more])
    return Tree.from_parents(parents, rng.permutation(tips))


class Frames:
    """What the main thread of a page does between frames, by Chromium's own trace.

    The thread's CPU time (`tdur` of its tasks) is counted, and not the clock: other programs on the
    machine would be counted, too.
    """

    def __init__(self, browser, page):
        self.browser, self.page = browser, page
        session = page.context.new_cdp_session(page)
        self.frame = session.send("Page.getFrameTree")["frameTree"]["frame"]
        session.detach()

    def __enter__(self):
        categories = ["devtools.timeline", "disabled-by-default-devtools.timeline"]
        self.browser.start_tracing(page=self.page, categories=categories)
        return self

    def __exit__(self, *error):
        self.events = json.loads(self.browser.stop_tracing())["traceEvents"]

    def _is_frame(self, event) -> bool:
        """Whether this page, and not another one, drew a frame."""
        return (
            event["name"] == "FireAnimationFrame"
            and event["args"]["data"]["frame"] == self.frame["id"]
        )

    def milliseconds(self) -> np.ndarray:
        """CPU time of the main thread from each frame to the next, for frames that drew."""
        animation = [e for e in self.events if self._is_frame(e)]
        (main,) = {(e["pid"], e["tid"]) for e in animation}
        begun = sorted({e["ts"] for e in animation})
        tasks = [
            (e["ts"], e.get("tdur", e["dur"]))
            for e in self.events
            if e["name"] == "RunTask" and (e["pid"], e["tid"]) == main and "dur" in e
        ]
        at, spent = np.array(sorted(tasks), dtype=float).T
        # A frame's own task begins before its callback: it is counted to the frame it draws.
        frame_of = np.searchsorted(np.array(begun, dtype=float), at + spent, side="right") - 1
        kept = frame_of >= 0
        return np.bincount(frame_of[kept], spent[kept], minlength=len(begun)) / 1_000
