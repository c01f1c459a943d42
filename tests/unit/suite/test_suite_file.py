from pathlib import Path

import pytest

from harness.suite.file import SuiteError, load_release, load_suite, parse_suite
from harness.suite.plan import ServiceSpec
from harness.suite.select import portable_reference, select_scenarios
from harness.verdict import Verdict
from scenarios.catalogue import SCENARIOS

HEAD = 'schema = "suite/1"\nid = "s"\nversion = "1"\n'


def test_the_release_suite_loads_and_its_controls_exist():
    suite = load_release()
    assert [service.name for service in suite.services] == ["queue", "pool"]
    assert [(control.scenario, control.expect) for control in suite.controls] == [
        ("many-clients", Verdict.FAIL),
        ("hidden-state", Verdict.UNKNOWN),
        ("held-running-cancel", Verdict.PASS),
    ]
    chosen = select_scenarios(suite.scenarios, SCENARIOS, Path.cwd())
    left_out = {name for name, each in SCENARIOS.items() if each.endless or name.startswith("pipeline-")}
    assert set(SCENARIOS) - set(chosen) == left_out
    assert {control.scenario for control in suite.controls} <= set(SCENARIOS)


def test_a_whole_suite_reads_as_written():
    suite = parse_suite(
        HEAD
        + 'scenarios = ["many-*"]\nhang_after = 2.5\nseed = 7\n[budget]\nexecutions = 3\nstrategy = "pct"\n'
        + '[[target]]\nname = "cpu"\nadapter = "numpy"\ninputs = { x = { low = -1.0, high = 1.0, shape = [1, 2] } }\n'
        + '[[service]]\nname = "queue"\ncapacity = 4\n'
        + '[[control]]\nscenario = "a"\nservice = { name = "pool", slots = 2 }\nmodel = "builtin:m"\nexpect = "PASS"\n',
        "s.toml",
    )
    assert suite.seed == 7
    assert suite.budget.strategy == "pct"
    assert suite.targets[0].inputs["x"].shape == (1, 2)
    assert suite.controls[0].service == ServiceSpec("pool", slots=2)


TARGET = '[[target]]\nname = "cpu"\nadapter = "numpy"\n'
CONTROL = '[[control]]\nscenario = "a"\nservice = "queue"\nmodel = "builtin:m"\n'
MISTAKES = {
    "surprise = 1\n": "surprise: no such key",
    "[budget]\nexecutionss = 3\n": "budget.executionss: no such key",
    '[[target]]\nname = "cpu"\n': "target[0].adapter: is missing",
    TARGET + "delegat = 1\n": "target[0].delegat: no such key",
    '[[target]]\nname = "CPU"\nadapter = "numpy"\n': "target[0].name: lower-case",
    TARGET + TARGET: "target[1].name: 'cpu' is taken by target[0]",
    TARGET + 'python = "p"\ncommand = ["c"]\n': "target[0].python",
    TARGET + "inputs = { x = { low = 2.0, high = 1.0 } }\n": "target[0].inputs.x: low must be below high",
    TARGET + "inputs = { x = { low = nan } }\n": "target[0].inputs.x: low and high must be finite",
    "[budget]\nexecutions = 0\n": "budget.executions: must be 1 to",
    '[budget]\nexecutions = "many"\n': "budget.executions: expected `int`",
    '[budget]\nstrategy = "luck"\n': "budget.strategy: must be one of",
    "[budget]\nseconds = -1.0\n": "budget.seconds",
    "scenarios = []\n": "scenarios: is empty",
    "hang_after = 0.0\n": "hang_after: must be a positive number",
    "hang_after = inf\n": "hang_after: must be a positive number",
    "seed = -1\n": "seed: must be between",
    '[[service]]\nname = "queue"\ncapacity = 0\n': "service[0].capacity: must be at least 1",
    '[[service]]\nname = "queue"\nslots = 2\n': "service[0].slots: the queue has one slot",
    CONTROL + 'expect = "MAYBE"\n': "control[0].expect",
    CONTROL + 'expect = "CRASHED"\n': "control[0].expect: must be PASS, FAIL or UNKNOWN",
    CONTROL.replace("builtin:m", "mine.onnx") + 'expect = "FAIL"\n': "control[0].model: a control runs on a built-in",
    "[budget\n": "is not TOML",
    'id = "again"\n': "is not TOML",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_is_one_line_that_names_the_key(text):
    with pytest.raises(SuiteError) as caught:
        parse_suite(HEAD + text, "s.toml")
    message = str(caught.value)
    assert message.startswith("s.toml: ")
    assert MISTAKES[text] in message
    assert "\n" not in message


@pytest.mark.parametrize("text", ["", 'schema = "suite/2"\nid = "s"\nversion = "1"\n', HEAD.replace('"s"', '"S p"')])
def test_a_suite_needs_its_schema_id_and_version(text):
    with pytest.raises(SuiteError):
        parse_suite(text, "s.toml")


def test_a_file_that_cannot_be_read_is_named_without_its_folder(tmp_path):
    with pytest.raises(SuiteError, match=r"^nothing\.toml: cannot be read") as caught:
        load_suite(tmp_path / "nothing.toml")
    assert str(tmp_path) not in str(caught.value)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SuiteError, match="is not UTF-8"):
        load_suite(binary)


def test_globs_choose_in_order_and_once():
    known = ["close-twice", "queued-cancel", "running-cancel"]
    assert select_scenarios(["*-cancel", "*"], known, Path.cwd()) == ("queued-cancel", "running-cancel", "close-twice")


def test_an_exclamation_mark_takes_away():
    known = ["a-one", "a-two", "b"]
    assert select_scenarios(["*", "!a-*"], known, Path.cwd()) == ("b",)
    assert select_scenarios(["*", "!a-*", "a-two"], known, Path.cwd()) == ("b", "a-two")
    with pytest.raises(SuiteError, match="no scenario is left"):
        select_scenarios(["b", "!*"], known, Path.cwd())
    with pytest.raises(SuiteError, match="no scenario matches '!c'"):
        select_scenarios(["*", "!c"], known, Path.cwd())


def test_a_glob_that_matches_nothing_is_an_error():
    with pytest.raises(SuiteError, match=r"no scenario matches 'nope\*'"):
        select_scenarios(["*", "nope*"], ["a"], Path.cwd())


def test_a_file_reference_becomes_relative(tmp_path):
    reference = f"{tmp_path}/mine/svc.py:make"
    assert portable_reference(reference, tmp_path) == "mine/svc.py:make"
    assert portable_reference("package.module:Name", tmp_path) == "package.module:Name"
    assert select_scenarios([reference], [], tmp_path) == ("mine/svc.py:make",)


TARGET = '[[target]]\nname = "cpu"\nadapter = "numpy"\nmodel = "builtin:rows"\n'


def test_further_shapes_and_the_next_model_are_read():
    more = 'next_model = "builtin:permutation-2"\ninputs = { x = { shape = [1, 16], shapes = [[4, 16], [2, 16]] } }\n'
    (target,) = parse_suite(HEAD + TARGET + more, "s.toml").targets
    assert target.next_model == "builtin:permutation-2"
    assert target.inputs["x"].shapes == ((4, 16), (2, 16))


@pytest.mark.parametrize("shapes", ["[[4, 16]]", "[[4, 16], [2, 16], [3, 16]]", "[[4, 16], [0, 16]]"])
def test_two_further_shapes_or_none(shapes):
    with pytest.raises(SuiteError, match=r"inputs\.x\.shapes"):
        parse_suite(f"{HEAD}{TARGET}inputs = {{ x = {{ shapes = {shapes} }} }}\n", "s.toml")
