"""Files of older formats: how their objects become those of the next format.

A file of format 1 goes through step 1 (to format 2), then through step 2, and so on. A step names
the classes whose fields changed, and the kinds of files whose value changed where it has no class.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from bhmc.model.hdp.params import HdpParams
from bhmc.model.state import CONCENTRATIONS

Values = dict[str, Any]


class Step(NamedTuple):
    """The way from one format to the next."""

    fields: Mapping[str, Callable[[Values], Values]] = {}
    """By the name of a class in files: its fields then to its fields now."""
    values: Mapping[str, Callable[[Any], Any]] = {}
    """By the kind of a file: what it held then to what it holds now."""


def upgraded_fields(version: int, newest: int, name: str, fields: Values) -> Values:
    """Fields of an object in a file of an older format as the newest format has them.

    Parameters
    ----------
    version, newest : int
        The format of the file, and the newest format.
    name : str
        Name of the object's class in files.
    fields : dict
        The fields in the file, decoded.
    """
    for step in range(version, newest):
        fields = STEPS[step].fields.get(name, _unchanged)(fields)
    return fields


def upgraded_value(version: int, newest: int, kind: str, value: Any) -> Any:
    """The value of a file of an older format as the newest format has it.

    Parameters
    ----------
    version, newest : int
        The format of the file, and the newest format.
    kind : str
        The kind of the file.
    value : object
        The value in the file, decoded.
    """
    for step in range(version, newest):
        value = STEPS[step].values.get(kind, _unchanged)(value)
    return value


def _unchanged(value: Any) -> Any:
    return value


# ---- Format 1 to 2: hyperparameters are a dict by name; a state has `params` ----


def _gather_learned(fields: Values) -> Values:
    """Three fields become one dict, `learned`."""
    others = {name: value for name, value in fields.items() if name not in CONCENTRATIONS}
    return others | {"learned": {name: fields[name] for name in CONCENTRATIONS}}


def _params_apart(fields: Values) -> Values:
    """What the transition, which was always hdp, adds to a state becomes one object, `params`."""
    others = {name: value for name, value in fields.items() if name not in HdpParams._fields}
    params = HdpParams(**{name: fields[name] for name in HdpParams._fields})
    return {"shared": np.empty(0)} | others | {"params": params}


def _checkpoint_2(value: Any) -> Any:
    if not (isinstance(value, dict) and "recorder" in value):
        return value
    others = {name: part for name, part in value.items() if name != "state"}
    changed = {"captured": value["state"], "recorder": _recorder_2(value["recorder"])}
    if isinstance(value.get("fit"), dict):  # every chain was one of the transition hdp
        changed["fit"] = {"transition": repr("hdp")} | value["fit"]
    return others | changed


def _recorder_2(values: Values) -> Values:
    rows = _gather_learned(values["rows"])
    learned = rows.pop("learned")
    warmup = list(zip(*values["warmup_hyper"], strict=True)) or [()] * len(CONCENTRATIONS)
    wholes = values["wholes"]
    others = dict(wholes.get("wholes", {}))
    partitions = list(others.pop("partition", ()))
    if others:
        pairs = zip(*(others.pop(name) for name in HdpParams._fields), strict=True)
        others["params"] = [HdpParams(*pair) for pair in pairs]
    changed = {
        "rows": rows,
        "learned": learned,
        "warmup_learned": dict(zip(CONCENTRATIONS, map(list, warmup), strict=True)),
        "wholes": {
            "step": wholes["step"],
            "draws": wholes["draws"],
            "partitions": partitions,
            "others": others,
        },
    }
    return {name: value for name, value in values.items() if name != "warmup_hyper"} | changed


# ---- Format 2 to 3: the support of nodes is soft; the exact share is a field of its own ----


def _support_was_exact(fields: Values) -> Values:
    """`support` was the share of draws with exactly the same rows; the soft one is not known."""
    others = {name: value for name, value in fields.items() if name != "support"}
    return others | {"exact_support": fields.get("support")}


STEPS: dict[int, Step] = {
    1: Step(
        fields={
            "Draws": _gather_learned,
            "WarmupTraces": _gather_learned,
            "State": _params_apart,
        },
        values={"checkpoint": _checkpoint_2},
    ),
    2: Step(fields={"Tree": _support_was_exact}),
}
