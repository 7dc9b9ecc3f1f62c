"""An experiment file: what it means, and which key is named where it is wrong."""

from pathlib import Path

import pytest

from vlmrec.errors import InputError
from vlmrec.stages.condition import canonical_id
from vlmrec.stages.experiment import parse_experiment

GOOD = """
name = "study"
clips = ["clips", "/data/more"]
base = "V=frames-4fps,S2"
[settings]
temperature = 0.7
[budget]
max_cost = 2.50
[[condition]]
name = "plain"
[[condition]]
name = "grounded"
set = "G3"
[[condition]]
name = "oracle"
stage0_from = "gold:labels"
"""


def parsed(text: str) -> object:
    return parse_experiment(text, path=Path("folder/study.toml"))


def test_a_file_becomes_runs_that_differ_in_what_their_conditions_say() -> None:
    experiment = parse_experiment(GOOD, path=Path("folder/study.toml"))
    assert [run.run_id for run in experiment.runs] == ["study-plain", "study-grounded", "study-oracle"]
    assert [experiment.axes_that_differ(run) for run in experiment.runs] == [
        "",
        "G: 0 -> 3",
        "table: model -> gold:labels",
    ]
    assert experiment.clips == (Path("folder/clips"), Path("/data/more"))
    assert str(experiment.limits.max_cost) == "2.50"
    assert {run.parameters.temperature for run in experiment.runs} == {0.7}
    assert canonical_id(experiment.runs[1].condition).startswith(
        "M=observer/classical,V=frames-4fps,P=native,A0,C0,R1,G3"
    )


def test_the_name_is_the_files_own_where_none_is_given() -> None:
    experiment = parse_experiment('clips = ["c"]\n[[condition]]\nname = "a"\n', path=Path("x/pilot.toml"))
    assert experiment.runs[0].run_id == "pilot-a"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("clips = [", "clip = [", "unknown field `clip`"),
        ('clips = ["clips", "/data/more"]', "", "missing required field `clips`"),
        ("temperature = 0.7", 'temperature = "warm"', "settings.temperature: Expected `float"),
        ("temperature = 0.7", "temperatur = 0.7", "settings: Object contains unknown field `temperatur`"),
        ("max_cost = 2.50", 'max_cost = "much"', "budget.max_cost"),
        ('set = "G3"', 'set = "G9"', "condition[1] (grounded).set: condition: G=9 is not known"),
        ('set = "G3"', "set = 3", "condition[1].set: Expected `str`, got `int`"),
        ('set = "G3"', 'set = ""', "condition[1] (grounded) is the same as another one (plain)"),
        ('name = "grounded"', 'name = "plain"', "has the name of another one"),
        ('name = "grounded"', 'name = "two words"', "condition[1] (two words).name"),
        ('set = "G3"', 'set = "R3"\n[[condition]]\nname = "x"\nset = "S0"\nstage0_from = "gold"', "only under S2"),
        ("temperature = 0.7", "", None),
        ('base = "V=frames-4fps,S2"', 'base = "P=100,V=full"', "base: condition: P sets a limit per frame"),
        ('name = "study"', 'name = "a/b"', "name 'a/b'"),
        ("[budget]", 'vote_threshold = "2"\n[budget]', "settings.vote_threshold: the vote threshold 2 is not between"),
        ("[budget]", 'monitor_rate = "x"\n[budget]', None),
        ('base = "V', 'engine = "9.9"\nbase = "V', "engine: there is no embedded engine '9.9'"),
        (
            'base = "V',
            'engine_url = "nonsense"\nbase = "V',
            "engine_url: base URL 'nonsense': expected http:// or https://",
        ),
        ("[budget]", "[budget", "not TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_file_and_key(old: str, new: str, said: str | None) -> None:
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    if said is None:
        parsed(text)
        return
    with pytest.raises(InputError) as caught:
        parsed(text)
    assert str(caught.value).startswith("folder/study.toml: ")
    assert said in str(caught.value)


def test_conditions_that_differ_in_r_need_a_temperature_for_all() -> None:
    text = GOOD.replace('set = "G3"', 'set = "R3"').replace("temperature = 0.7\n", "")
    with pytest.raises(InputError, match=r"settings\.temperature"):
        parsed(text)
