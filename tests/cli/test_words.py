"""The words of the command line: help, options, defaults, wrong words."""

import os
import subprocess
import sys

import pytest

import bhmc
from bhmc._cli import main, options, parser
from bhmc._estimator.parameters import ESTIMATES
from bhmc._validation.init import STARTS
from bhmc.likelihoods import NAMES
from bhmc.model.hdp.moves import NAMES as NAMES_OF_MOVES
from bhmc.model.registry import TRANSITIONS
from bhmc.model.state import CONCENTRATIONS
from bhmc.posterior.retention import KEEPS
from bhmc.priors import LEARN_BY
from bhmc.rows.local import PRECISIONS
from tests.cli.tools import COMMANDS, SOURCE


def test_help_comes_without_the_heavy_libraries():
    code = (
        "import sys; sys.argv = ['bhmc', '--help']\n"
        "from bhmc._cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'pandas'} & set(sys.modules)\n"
        "print('heavy:', sorted(heavy))"
    )
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert done.stdout.endswith("heavy: []\n"), done.stderr
    for command in COMMANDS:
        assert f"\n  {command}" in done.stdout.replace("    ", "  ")


def test_a_terminal_without_colour_gets_none():
    """NO_COLOR (no-color.org): in a terminal, too, no colour codes are written."""
    pty = pytest.importorskip("pty", reason="NOT TESTED: there are no terminals here.")
    ours, theirs = pty.openpty()
    env = {**os.environ, "PYTHONPATH": str(SOURCE), "NO_COLOR": "1", "TERM": "xterm-256color"}
    env.pop("FORCE_COLOR", None)
    done = subprocess.Popen(
        [sys.executable, "-m", "bhmc", "show", "nowhere"], stdout=theirs, stderr=theirs, env=env
    )
    assert done.wait() == 2
    os.close(theirs)
    written = os.read(ours, 10_000).decode()
    os.close(ours)
    assert "nowhere" in written
    assert "\x1b[" not in written


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_that_fits_on_a_screen(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"usage: bhmc {command}")
    assert max(map(len, lines)) <= 100


def test_every_option_is_explained():
    actions = parser.build_parser()._subparsers._group_actions[0].choices
    assert set(actions) == set(COMMANDS)
    for name, command in actions.items():
        for action in command._actions:
            assert action.help, (name, action.dest)


def test_every_parameter_of_the_estimator_has_an_option():
    parameters = [one.parameter for one in options.FIT_OPTIONS]
    assert sorted((*parameters, *options.SET_BY_THE_COMMAND)) == sorted(bhmc.BHMC().get_params())


def test_choices_are_those_of_the_library():
    library = {
        "likelihood": NAMES,
        "transition": ("auto", *TRANSITIONS),
        "hyper": LEARN_BY,
        "init": ("auto", *STARTS),
        "precision": PRECISIONS,
        "estimate": ESTIMATES,
        "keep": KEEPS,
    }
    found = {one.parameter: one.choices for one in options.FIT_OPTIONS if one.choices}
    assert found.keys() == library.keys()
    for name, choices in found.items():
        assert sorted(choices) == sorted(library[name]), name


def test_moves_are_those_of_the_model():
    assert options.MOVES == NAMES_OF_MOVES
    assert options.moves("auto") == "auto"
    assert options.moves("none") == ()
    assert options.moves("dishes, regraft") == ("dishes", "regraft")


def test_defaults_named_in_help_are_the_estimators():
    fit = parser.build_parser()._subparsers._group_actions[0].choices["fit"]
    texts = {action.dest: action.help for action in fit._actions}
    defaults = bhmc.BHMC().get_params()
    for one in options.FIT_OPTIONS:
        assert one.default == defaults[one.parameter], one.name
        assert (f"(default: {one.default})" in texts[one.dest]) == (one.default is not None)


def test_the_concentrations_are_those_of_the_model():
    found = [one.name for one in options.FIT_OPTIONS if one.read is options.concentration]
    assert tuple(found) == CONCENTRATIONS


def test_version_and_no_command(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"bhmc {bhmc.__version__}\n"
    assert main([]) == 2
    assert "usage: bhmc" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fit", "x.csv", "-o", "d", "--levels", "0"], "whole number of at least 1, got '0'"),
        (["fit", "x.csv", "-o", "d", "--draws", "1e3"], "whole number of at least 1, got '1e3'"),
        (["fit", "x.csv", "-o", "d", "--draws", "all"], "got 'all', or the word auto"),
        (["fit", "x.csv", "-o", "d", "--max-seconds", "0"], "seconds, a number above 0, got '0'"),
        (["fit", "x.csv", "-o", "d", "--alpha", "-1"], "words learn and auto, got '-1'"),
        (["fit", "x.csv", "-o", "d", "--alpha", "nan"], "words learn and auto, got 'nan'"),
        (["fit", "x.csv", "-o", "d", "--seed=-3"], "whole number of at least 0, got '-3'"),
        (["fit", "x.csv", "-o", "d", "--moves", "graft"], "dishes, split between commas, got"),
        (["fit", "x.csv", "-o", "d", "--jobs", "0"], "-1 for all processors, got '0'"),
        (["fit", "x.csv", "-o", "d", "--delimiter", "ab"], "one character or `tab`, got 'ab'"),
        (["fit", "x.csv", "-o", "d", "--likelihood", "normal"], "invalid choice: 'normal'"),
        (["fit", "x.csv", "-o", "d", "--level", "3"], "unrecognized arguments: --level 3"),
        (["show", "d", "--min-support", "120%"], "from 0 to 1, got '120%'"),
        (["plot", "d", "--kind", "pie"], "invalid choice: 'pie'"),
        (["export", "d", "-o", "x"], "required: --to"),
        (["prior", "0"], "whole number of at least 1, got '0'"),
        (["fti", "x.csv"], "invalid choice: 'fti'"),
    ],
)
def test_wrong_words(arguments, said, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert said in capsys.readouterr().err


def test_lists_of_columns():
    assert options.columns('a, b,"c, d"') == ["a", "b", "c, d"]
    assert options.share("50%") == options.share("0.5") == 0.5
