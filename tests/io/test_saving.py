"""Files: what is saved comes back to the last bit, and is written whole or not at all."""

import json
import os
import re
import stat
import tracemalloc
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone

import bhmc
from bhmc import BHMC, Hyper, likelihoods, priors
from bhmc._io.archive import FileFormatError, archive, decode, encode, read, write
from bhmc._io.archive.classes import CLASSES
from bhmc._io.archive.entries import Entry
from bhmc._io.archive.models import load_model, save_model
from bhmc._version import __version__
from bhmc.posterior.draws import Draws
from bhmc.posterior.recorder import WarmupTraces
from tests.io import saving_values as values
from tests.io.saving_values import assert_same, edited
from tests.posterior.draws_factory import make_draws


def round_trip(value, tmp_path, kind="checkpoint"):
    path = tmp_path / "value.bhmc"
    write(path, kind, value)
    return read(path, kind)


@pytest.mark.parametrize("name", values.PLAIN)
def test_plain_values(name, tmp_path):
    assert_same(round_trip(values.PLAIN[name], tmp_path), values.PLAIN[name])


@pytest.mark.parametrize("name", values.ARRAYS)
def test_arrays(name, tmp_path):
    """Values, types, order in memory, and whether they may be written to."""
    assert_same(round_trip(values.ARRAYS[name], tmp_path), values.ARRAYS[name])


@pytest.mark.parametrize("group", ["PRIORS", "LIKELIHOODS", "LATER"])
def test_settings(group, tmp_path):
    wanted = getattr(values, group)
    found = round_trip(wanted, tmp_path)
    assert_same(found, wanted)
    assert repr(found) == repr(wanted)


def test_every_public_family_and_prior_can_be_saved():
    """A new one needs its line in the table of classes and in these tests."""
    public = {getattr(likelihoods, name) for name in likelihoods.__all__}
    kinds = {one for one in public if isinstance(one, type)}
    families = {one for one in kinds if issubclass(one, likelihoods.Likelihood)}
    families -= {likelihoods.Likelihood}
    assert families | set(priors.Prior.__subclasses__()) <= set(CLASSES.values())
    tested = [*values.LIKELIHOODS.values(), *values.LATER.values(), *values.PRIORS.values()]
    assert families | set(priors.Prior.__subclasses__()) <= {type(value) for value in tested}


@pytest.mark.parametrize(
    "value",
    [
        values.small_tree(),
        values.full_tree(),
        values.small_draws(),
        make_draws(),
        make_draws(keep=0),
        make_draws(n_chains=1, n_draws=1, n_shared=0, n_pairs=0),
        values.small_state(),
        [values.small_state(), values.small_state()],
        Hyper(priors.Gamma(2, 10), 1.0, "learn", 4),
        bhmc.Info(1, 2, 3, 4, 5),
        WarmupTraces({"alpha": np.ones((2, 4))}, shared=np.ones((2, 4, 0))),
        values.everything(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_objects(value, tmp_path):
    assert_same(round_trip(value, tmp_path), value)


@pytest.mark.parametrize("name", values.generators())
def test_generators_go_on_bit_for_bit(name, tmp_path):
    ours = values.generators()[name]
    theirs = round_trip(ours, tmp_path)
    assert_same(theirs, ours)
    if isinstance(ours, np.random.SeedSequence):
        assert_same(theirs.generate_state(9), ours.generate_state(9))
        assert_same(theirs.spawn(1)[0], ours.spawn(1)[0])
    else:
        draws = [
            (source.standard_normal(5), source.random(3), source.bytes(5))
            for source in (ours, theirs)
        ]
        assert_same(*draws)
    if isinstance(ours, np.random.Generator):
        assert_same(*(source.spawn(2)[1].random(3) for source in (ours, theirs)))


@pytest.mark.parametrize(
    ("sampler", "n_components"),
    [("gibbs", None), ("mh", None), ("paper", None), ("gibbs", 4), ("mh", 4)],
)
def test_a_chain_goes_on_from_a_file(sampler, n_components, tmp_path):
    """The sweep after loading is the sweep that would have come."""
    hyper, rng = Hyper(1.0, 1.0, 0.5, n_components), np.random.default_rng(0)
    setting = {"hyper": hyper, "likelihood": likelihoods.Gaussian(0.5), "sampler": sampler}
    state, X = bhmc.sample_prior(
        12, n_levels=2, hyper=hyper, likelihood=setting["likelihood"], rng=rng,
        n_components=n_components,
    )  # fmt: skip
    state, info = bhmc.sweep(state, X, rng=rng, **setting)
    saved = round_trip({"state": state, "rng": rng, "info": info, "setting": setting}, tmp_path)
    assert_same(saved["state"], state)
    next_ours = bhmc.sweep(state, X, rng=rng, **setting)
    next_theirs = bhmc.sweep(saved["state"], X, rng=saved["rng"], **saved["setting"])
    assert_same(next_theirs, next_ours)


def test_the_same_array_is_saved_once_and_stays_the_same(tmp_path):
    array, names = np.arange(4), np.array(["a", "b"], dtype=object)
    value = {"a": array, "b": [array, "x"], "c": np.arange(4), "d": names, "e": {"f": names}}
    found = round_trip(value, tmp_path)
    assert_same(found, value)
    assert found["a"] is found["b"][0]
    assert found["a"] is not found["c"]
    assert found["d"] is found["e"]["f"]
    assert len(encode(value)[1]) == 2


def test_many_draws_make_few_entries(tmp_path):
    draws = make_draws(n_draws=300, n_rows=20)
    path = tmp_path / "draws.bhmc"
    draws.save(path)
    found = Draws.load(path)
    assert_same(found, draws)
    with zipfile.ZipFile(path) as archive:
        assert len(archive.namelist()) < 40
    leaves = [one.leaf for one in found.partitions]
    assert all(leaf.base is leaves[0].base for leaf in leaves)  # views of one array, no copies
    assert_same(found.thin(50).paths, draws.thin(50).paths)


def test_names_of_entries_are_places_that_every_system_allows():
    keys = ["a/../b", "A_.._B", "a____b", "", "x" * 300, "é"]
    value = {key: np.arange(1) for key in keys} | {"in": {"a/b": [np.arange(1), "not packed"]}}
    names = list(encode(value)[1])
    assert all(re.fullmatch(r"([A-Za-z0-9_-]{1,60}/)*[A-Za-z0-9_-]{1,60}\.npy", n) for n in names)
    assert len({name.casefold() for name in names}) == len(names) == 7
    assert list(encode(np.arange(1))[1]) == ["value.npy"]
    assert_same(decode(encode("x")[0], {}), "x")


def test_reading_and_writing_hold_nothing_twice(tmp_path):
    """16 MB of numbers and 8 MB of labels in many pieces: little more than that is asked for."""
    rng = np.random.default_rng(0)
    labels = list(rng.integers(256, size=(100, 80_000), dtype=np.uint8))
    value = {"numbers": rng.random(2_000_000), "labels": labels}
    tracemalloc.start()
    write(tmp_path / "big", "checkpoint", value)
    at_write = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    found = read(tmp_path / "big")
    at_read = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert at_write < 5e6
    assert 24e6 < at_read < 29e6
    assert np.array_equal(found["labels"][77], labels[77])


@dataclass(frozen=True)
class OwnLikelihood(likelihoods.Gaussian):
    """A user's."""


LOOP: list = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"likelihood": OwnLikelihood()}, "likelihood cannot be saved: OwnLikelihood is a likelih"),
        ({"a": {"b": [1, print]}}, r"a\.b\.1 cannot be saved: it is a builtin_function"),
        ({1: {2}}, "1 cannot be saved: it is a set"),
        (object(), "this value cannot be saved: it is a object"),
        ({"x": np.ma.array([1])}, r"x cannot be saved: it is a numpy\.ma\.(core\.)?MaskedArray"),
        ({"x": np.zeros(2, dtype=[("a", int)])}, "x cannot be saved: .* of type"),
        ({"x": np.array([print], dtype=object)}, r"x\.0 cannot be saved"),
        ({"x": np.longdouble(1)}, "x cannot be saved: .* of type"),
        (LOOP, "nested so deep, or in itself"),
    ],
)
def test_what_cannot_be_saved_is_refused_and_leaves_no_file(value, sentence, tmp_path):
    with pytest.raises(TypeError, match=sentence) as caught:
        write(tmp_path / "x.bhmc", "checkpoint", value)
    assert str(caught.value).endswith(".")
    assert os.listdir(tmp_path) == []


def test_a_value_of_another_kind_is_refused(tmp_path):
    with pytest.raises(TypeError, match="a file of kind 'tree' holds a Tree, got a int"):
        write(tmp_path / "x", "tree", 3)


@pytest.mark.parametrize("moment", ["in the middle", "at the end"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("no space left")])
def test_a_write_that_fails_leaves_what_was_there(moment, error, tmp_path, monkeypatch):
    path = tmp_path / "x.bhmc"
    write(path, "checkpoint", "before")

    def stop(*_):
        raise error

    if moment == "in the middle":
        monkeypatch.setattr(Entry, "chunks", lambda self: (stop() if i else b"" for i in range(2)))
        monkeypatch.setattr(archive, "_shrinks", lambda entry: False)
    else:
        monkeypatch.setattr(os, "replace", stop)
    with pytest.raises(type(error) if isinstance(error, OSError) else error):
        write(path, "checkpoint", np.arange(9))
    assert read(path) == "before"
    assert os.listdir(tmp_path) == ["x.bhmc"]


def test_a_new_file_is_as_any_other_and_a_link_stays_one(tmp_path):
    (tmp_path / "plain").write_text("")
    (tmp_path / "link").symlink_to("target")
    write(tmp_path / "link", "checkpoint", 1)
    write(tmp_path / "link", "checkpoint", 2)
    assert (tmp_path / "link").is_symlink()
    assert read(tmp_path / "target") == 2
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "target")}
    assert len(modes) == 1


def test_where_nothing_can_be_written(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no directory '.*nowhere'"):
        write(tmp_path / "nowhere" / "x", "checkpoint", 1)
    with pytest.raises(IsADirectoryError, match="is a directory, not a file to save in"):
        write(tmp_path, "checkpoint", 1)


def test_the_header_says_who_wrote_the_file(tmp_path):
    values.small_tree().save(tmp_path / "t")
    with zipfile.ZipFile(tmp_path / "t") as archive:
        header = json.loads(archive.read("header.json"))
        assert archive.namelist()[0] == "header.json"
        assert archive.testzip() is None
    assert (header["format"], header["format_version"], header["kind"]) == ("bhmc", 3, "tree")
    assert header["bhmc"] == __version__
    assert header["libraries"]["numpy"] == np.__version__
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", header["created"])


def test_a_model_comes_back_whole(tmp_path):
    model = values.small_model()
    model.save(tmp_path / "m.bhmc")
    found = BHMC.load(tmp_path / "m.bhmc")
    assert_same(vars(found), vars(model))
    assert_same(found.get_params(), model.get_params())
    assert found.paths_ is found.tree_.paths
    assert_same(found.labels_at(1), model.labels_at(1))
    assert_same(clone(found).get_params(), model.get_params())
    assert repr(found) == repr(model)


def frame():
    """Twelve named rows in two groups, with columns of three kinds."""
    rng, group = np.random.default_rng(0), np.arange(12) % 2
    columns = {
        "size": rng.normal(size=12) + 5 * group,
        "hair": [("red", "black")[one] for one in group],
        "tall": group,
    }
    return pd.DataFrame(columns, index=[f"row {i}" for i in range(12)])


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"keep": "summary", "estimate": "map", "hyper": "paper"},
        {"fixed_components": 3, "init": np.arange(12) % 3},
        {"likelihood": "known_gaussian", "sampler": "paper"},
    ],
    ids=lambda settings: " ".join(map(str, settings)),
)
def test_a_fitted_model_comes_back_whole(settings, tmp_path):
    X = frame()[["size", "tall"]] if "likelihood" in settings else frame()
    model = BHMC(2, n_warmup=3, n_draws=4, random_state=0, **settings).fit(X)
    model.save(tmp_path / "m.bhmc")
    found = BHMC.load(str(tmp_path / "m.bhmc"))
    assert_same(vars(found), {name: vars(model)[name] for name in vars(model) if name != "_going"})
    assert found.item_names_[3] == "row 3"
    again = clone(found).fit(X)  # the parameters are as good as the first ones
    assert_same(again.tree_, model.tree_)


def test_a_model_that_was_not_fitted(tmp_path):
    model = BHMC(4, alpha=priors.Gamma(3, 1), random_state=np.random.default_rng(3))
    model.save(tmp_path / "m")
    found = BHMC.load(tmp_path / "m")
    assert_same(vars(found), vars(model))


def test_a_likelihood_of_ones_own_is_refused(tmp_path):
    model = BHMC(likelihood=OwnLikelihood())
    with pytest.raises(
        TypeError, match=r"parameters\.likelihood cannot be saved: OwnLikelihood is"
    ):
        model.save(tmp_path / "m")
    assert os.listdir(tmp_path) == []


class Small(BaseEstimator):
    """An estimator with a parameter."""

    def __init__(self, a=1):
        self.a = a


class Smaller(Small):
    """One with other parameters."""

    def __init__(self, b=2):
        self.b = b


def test_models_of_other_classes_and_versions(tmp_path):
    path, model = tmp_path / "m", Small(a=5)
    model.c_, model._hidden_, model.d, model.__dict__["_e"] = 3, 4, 5, 6
    save_model(model, path)
    assert vars(load_model(path, Small)) == {"a": 5, "c_": 3}
    with pytest.raises(FileFormatError, match="it holds a Small, not a Smaller"):
        load_model(path, Smaller)

    def fitted(name):
        return lambda header: header["value"]["fitted"].update({name: 1})

    for edit, sentence in [
        (lambda header: header["value"].update({"class": "Smaller"}), "the parameter 'a', which "),
        (lambda header: header["value"]["parameters"].clear(), None),
        (fitted("fit"), "'fit' is no name of a fitted attribute"),
        (fitted("__class__"), "'__class__' is no name of a fitted attribute"),
        (lambda header: header["value"].pop("fitted"), "it holds no fitted of a model"),
    ]:
        save_model(model, path)
        edited(path, edit)
        if sentence is None:  # an older file, from before the parameter
            edited(path, lambda header: header["value"].update({"class": "Smaller"}))
            assert load_model(path, Smaller).b == 2
            continue
        cls = Smaller if "parameter" in sentence else Small
        with pytest.raises(FileFormatError, match=sentence):
            load_model(path, cls)


def test_draws_that_were_thinned_can_be_saved(tmp_path):
    draws = make_draws(n_draws=9).thin(2)
    draws.save(tmp_path / "d")
    assert_same(Draws.load(tmp_path / "d"), draws)
    assert_same(Draws.load(tmp_path / "d"), replace(draws))


def test_the_page_reads_packed_arrays_without_bhmc(tmp_path):
    """The functions in docs/file-format.md give back what `Draws.load` does."""
    page = Path(__file__).parents[2] / "docs" / "file-format.md"
    code = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)[0]
    names = {"np": np, "json": json, "zipfile": zipfile}
    exec(code, names)
    for draws in (values.small_draws(), make_draws()):
        draws.save(tmp_path / "d")
        wanted = [one.leaf for one in draws.partitions]
        assert_same(names["leaves_of_kept_draws"](tmp_path / "d"), wanted)
    matrices = values.ARRAYS["matrices"]
    write(tmp_path / "m", "checkpoint", matrices)
    with zipfile.ZipFile(tmp_path / "m") as archive:
        packed = json.loads(archive.read("header.json"))["value"]
        assert_same(tuple(names["unpack"](archive, packed)), matrices)
