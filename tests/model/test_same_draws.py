"""The same seeds give the same draws as at the commit whose digests are kept.

`python -m studies.same_draws` compares many more cases, bit for bit, with the old code itself.
"""

import json
from copy import deepcopy
from pathlib import Path

import pytest
from studies.same_draws.data import FAMILIES
from studies.same_draws.digests import differing, digested_names, digests
from studies.same_draws.fits import SAMPLERS, forms_of

FILE = Path(__file__).parents[1] / "data" / "draw_digests.json"


@pytest.fixture(scope="module")
def expected():
    return json.loads(FILE.read_text(encoding="utf-8"))


def test_draws_are_the_same(expected):
    assert differing(expected, digests()) == []


def test_every_sampler_meets_every_family_and_every_form(expected):
    assert list(expected) == digested_names()
    seen = [name.split("/") for name in expected]
    pairs = {(family, sampler) for _, family, sampler, _ in seen}
    assert pairs == {(family, sampler) for family in FAMILIES for sampler in SAMPLERS}
    forms = {(sampler, form) for _, _, sampler, form in seen}
    assert forms == {(sampler, form) for sampler in SAMPLERS for form in forms_of(sampler)}


def test_a_difference_is_noticed(expected):
    """One hash, one float by more than 1e-9, one case left out."""
    name = "fit/gaussian-scalar/gibbs/infinite"
    for change in (
        lambda all_: all_[name].update(draws="0" * 64),
        lambda all_: all_[name]["draws.log_joint"].__setitem__(
            0, all_[name]["draws.log_joint"][0] * (1 + 1e-7)
        ),
        lambda all_: all_.pop(name),
    ):
        changed = deepcopy(expected)
        change(changed)
        assert differing(expected, changed)
