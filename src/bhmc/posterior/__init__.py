"""What was kept of the chains, and what it says."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bhmc.posterior.arviz import to_arviz
    from bhmc.posterior.diagnostics import Diagnostics, diagnose
    from bhmc.posterior.draws import Draws, Mixture, Partition, concat
    from bhmc.posterior.membership import node_membership
    from bhmc.posterior.new_outliers import new_outlier_scores
    from bhmc.posterior.outliers import SeatedDraw, outlier_scores
    from bhmc.posterior.recorder import Recorder, WarmupTraces
    from bhmc.posterior.rhat_ess import ess_bulk, ess_tail, mcse_mean, rhat
    from bhmc.posterior.summary import coclustering, coclustering_blocks, expected_vi, nearest_draw
    from bhmc.posterior.support import node_support, path_support, soft_support
    from bhmc.posterior.vi_search import nearest_partition

__all__ = [
    "Diagnostics",
    "Draws",
    "Mixture",
    "Partition",
    "Recorder",
    "SeatedDraw",
    "WarmupTraces",
    "coclustering",
    "coclustering_blocks",
    "concat",
    "diagnose",
    "ess_bulk",
    "ess_tail",
    "expected_vi",
    "mcse_mean",
    "nearest_draw",
    "nearest_partition",
    "new_outlier_scores",
    "node_membership",
    "node_support",
    "outlier_scores",
    "path_support",
    "rhat",
    "soft_support",
    "to_arviz",
]

# Names are imported when they are first asked for, so that no one waits for what is not used.
_FILES = {
    "arviz": ("to_arviz",),
    "diagnostics": ("Diagnostics", "diagnose"),
    "draws": ("Draws", "Mixture", "Partition", "concat"),
    "membership": ("node_membership",),
    "new_outliers": ("new_outlier_scores",),
    "outliers": ("SeatedDraw", "outlier_scores"),
    "recorder": ("Recorder", "WarmupTraces"),
    "rhat_ess": ("ess_bulk", "ess_tail", "mcse_mean", "rhat"),
    "summary": ("coclustering", "coclustering_blocks", "expected_vi", "nearest_draw"),
    "support": ("node_support", "path_support", "soft_support"),
    "vi_search": ("nearest_partition",),
}


def __getattr__(name: str) -> Any:
    for file, names in _FILES.items():
        if name in names:
            value = globals()[name] = getattr(
                __import__(f"{__name__}.{file}", fromlist=[name]), name
            )
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
