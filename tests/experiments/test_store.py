"""Parts of an experiment: made once, found again, made anew where anything has changed."""

import os
from pathlib import Path

import numpy as np
import pytest

from bhmc._experiments import (
    store,
)
from bhmc._experiments.store import Outcome, Store
from tests.experiments.tools import compare, rows_of
from tests.posterior.draws_factory import make_draws
from tests.tree.tree_factory import small_tree


class Maker:
    """Makes a part and counts how often it was asked to."""

    def __init__(self, **facts):
        self.times, self.facts = 0, {"seconds": 0.5, **facts}

    def __call__(self, going: Path) -> Outcome:
        self.times += 1
        return Outcome(small_tree(), self.facts, make_draws(), {"a": np.arange(3.0)})


def test_a_part_is_made_once_and_comes_back_whole(tmp_path):
    maker = Maker(learned=[0.25, 0.5])
    made = Store(tmp_path).part("one: part/two", {"alpha": 0.4}, maker)
    again = Store(tmp_path)
    found = again.part("one: part/two", {"alpha": 0.4}, maker)
    assert maker.times == 1
    assert again.found == ["one: part/two"]
    assert again.made == []
    assert found.facts == made.facts
    np.testing.assert_array_equal(found.tree.paths, made.tree.paths)
    np.testing.assert_array_equal(found.draws.log_joint, made.draws.log_joint)
    np.testing.assert_array_equal(found.series["a"], made.series["a"])


@pytest.mark.parametrize("recipe", [{"alpha": 0.5}, {"alpha": 0.4, "seed": 1}, {}])
def test_a_changed_recipe_is_made_anew(tmp_path, recipe):
    maker = Maker()
    Store(tmp_path).part("part", {"alpha": 0.4}, maker)
    Store(tmp_path).part("part", recipe, maker)
    assert maker.times == 2


def test_another_version_is_made_anew(tmp_path, monkeypatch):
    maker = Maker()
    Store(tmp_path).part("part", {}, maker)
    monkeypatch.setattr(store, "__version__", "99.0")
    Store(tmp_path).part("part", {}, maker)
    assert maker.times == 2


@pytest.mark.parametrize(
    ("stopped", "before", "now", "times"),
    [
        (True, 10.0, 20.0, 2),
        (True, 10.0, None, 2),
        (True, 10.0, 10.0, 1),
        (True, 10.0, 5.0, 1),
        (False, 10.0, 20.0, 1),
    ],
)
def test_only_a_part_that_was_stopped_wants_more_time(tmp_path, stopped, before, now, times):
    maker = Maker(stopped_early=stopped)
    Store(tmp_path).part("part", {}, maker, budget=before)
    Store(tmp_path).part("part", {}, maker, budget=now)
    assert maker.times == times


def test_a_damaged_record_is_made_anew(tmp_path):
    maker = Maker()
    Store(tmp_path).part("part", {}, maker)
    (tmp_path / "parts" / "part.json").write_text('{"recipe": {', encoding="utf-8")
    Store(tmp_path).part("part", {}, maker)
    assert maker.times == 2


def test_an_interrupt_keeps_other_parts_and_the_way_so_far(tmp_path):
    maker = Maker()
    Store(tmp_path).part("done", {}, maker)

    def interrupted(going):
        going.with_name(f"{going.name}.0").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Store(tmp_path).part("half", {}, interrupted)
    again = Store(tmp_path)
    again.part("done", {}, maker)
    assert maker.times == 1

    def going_on(going):
        assert going.with_name(f"{going.name}.0").read_text() == "half"
        return maker(going)

    again.part("half", {}, going_on)
    assert not list((tmp_path / "parts").glob("*.going*"))


def test_what_was_on_its_way_by_another_recipe_is_not_gone_on_with(tmp_path):
    names = []

    def interrupted(going):
        names.append(going)
        raise KeyboardInterrupt

    for alpha in (0.4, 0.5):
        with pytest.raises(KeyboardInterrupt):
            Store(tmp_path).part("part", {"alpha": alpha}, interrupted)
    assert names[0] != names[1]


def test_what_killed_experiments_left_is_removed(tmp_path):
    left = tmp_path / "parts" / ".part.json.0011aabb.tmp"
    left.parent.mkdir()
    left.touch()
    os.utime(left, (0, 0))
    Store(tmp_path).part("part", {}, Maker())
    assert not left.exists()


def test_a_part_that_cannot_be_written_is_not_there(tmp_path, monkeypatch):
    """Its record is the last file of a part: without it the part is made anew."""
    maker = Maker()
    with monkeypatch.context() as patch:
        patch.setattr(store, "atomic_file", _no_room)
        with pytest.raises(OSError, match="No space left"):
            Store(tmp_path).part("part", {}, maker)
    Store(tmp_path).part("part", {}, maker)
    assert maker.times == 2


def _no_room(path):
    raise OSError(28, "No space left on device", str(path))


def test_a_damaged_part_is_made_anew(table, tmp_path):
    assert compare(table, tmp_path / "out", "--methods", "ward,random") == 0
    scores = rows_of(tmp_path / "out" / "scores.csv")
    part = tmp_path / "out" / "parts" / "ward.tree.bhmc"
    part.write_bytes(part.read_bytes()[:100])
    (tmp_path / "out" / "parts" / "random_seed_0.tree.bhmc").unlink()
    assert compare(table, tmp_path / "out", "--methods", "ward,random") == 0
    assert rows_of(tmp_path / "out" / "scores.csv") == scores
