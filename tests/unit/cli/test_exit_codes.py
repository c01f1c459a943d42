import pytest

from harness.cli import main as cli
from harness.cli.run_command import exit_code
from harness.verdict import Verdict

USAGE = {
    "nothing": ((), "usage: racegate"),
    "command": (("bogus",), "no command 'bogus'"),
    "flag": (("run", "--bogus"), "unrecognized arguments"),
    "abbreviation": (("run", "--targ", "numpy"), "unrecognized arguments"),
    "suite": (("run", "none.toml"), "none.toml: cannot be read"),
    "target": (("run", "--target", "nope"), "no target 'nope'; there are"),
    "model": (("run", "--target", "numpy", "--model", "none.json"), "there is no such file"),
    "format": (("run", "--target", "numpy", "--model", "none.onnx"), "no such file"),
    "scenario": (("run", "--target", "numpy", "--scenario", "nope"), "no scenario matches 'nope'"),
    "scenario file": (("run", "--target", "numpy", "--scenario", "nope.py:x"), "no scenario file"),
    "service": (("run", "--target", "numpy", "--service", "nope"), "no service 'nope'"),
    "service file": (("run", "--target", "numpy", "--service", "nope.py:x"), "no service file"),
    "executions": (("run", "--target", "numpy", "--executions", "0"), "--executions must be at least 1"),
    "seed": (("run", "--target", "numpy", "--seed", "-1"), "--seed must be between"),
    "jobs": (("run", "--jobs", "0"), "--jobs must be at least 1"),
    "hang": (("run", "--hang-after", "nan"), "--hang-after must be"),
    "key": (("run", "--target", "numpy", "--key", "none.pem"), "none.pem"),
    "capacity": (("run", "--target", "numpy", "--capacity", "0"), "must be at least 1"),
    "token": (("replay", "nonsense"), "rg1.CELL.CODE.CHOICES"),
    "cell": (("replay", "rg1.000000000000.00000000.0"), "no cell-000000000000.json is here"),
    "list": (("list", "nothing"), "invalid choice"),
    "policy": (("gate", "--policy", "none.toml", "--model", "none"), "bad policy"),
    "worker": (("worker", "extra"), "a worker takes no arguments"),
    "conformance": (("worker", "--conformance"), "needs a command"),
    "agent": (("worker", "--conformance", "--", "no-such-agent"), "'no-such-agent' does not start"),
}


@pytest.mark.parametrize("case", USAGE)
def test_usage_is_exit_2_and_one_line(racegate, case):
    args, says = USAGE[case]
    done = racegate(*args)
    assert done.returncode == 2
    assert says in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_an_uncaught_exception_is_70_and_never_looks_like_a_violation(monkeypatch, capsys):
    def break_down(_name):
        message = "boom in /home/alice"
        raise ZeroDivisionError(message)

    monkeypatch.setattr(cli, "_load", break_down)
    monkeypatch.delenv("RACEGATE_DEBUG", raising=False)
    assert cli.main(["run"]) == 70
    err = capsys.readouterr().err
    assert "a defect in racegate: ZeroDivisionError at test_exit_codes.py" in err
    assert "alice" not in err
    monkeypatch.setenv("RACEGATE_DEBUG", "1")
    assert cli.main(["run"]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_an_early_ctrl_c_is_3(monkeypatch):
    def interrupt(_name):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_load", interrupt)
    assert cli.main(["run"]) == 3


class Record:
    def __init__(self, verdict):
        self.verdict = verdict


@pytest.mark.parametrize(
    ("verdicts", "interrupted", "code"),
    [
        ([Verdict.PASS, Verdict.PASS], False, 0),
        ([Verdict.PASS, Verdict.FAIL], False, 1),
        ([Verdict.UNKNOWN, Verdict.FAIL], False, 1),
        ([Verdict.PASS, Verdict.UNKNOWN], False, 3),
        ([], False, 3),
        ([Verdict.PASS], True, 3),
        ([Verdict.FAIL], True, 3),
    ],
)
def test_exit_code_follows_from_the_records(verdicts, interrupted, code):
    assert exit_code((Record(verdict) for verdict in verdicts), interrupted=interrupted) == code


def test_help_and_version_are_0(racegate):
    assert racegate("--version").stdout.startswith("racegate ")
    assert racegate("--help").returncode == 0
    for command in cli.COMMANDS:
        done = racegate(command, "--help")
        assert (command, done.returncode) == (command, 0)


def test_the_gate_needs_neither_numpy_nor_a_runtime(racegate, tmp_path):
    for name in ("numpy", "onnxruntime", "ai_edge_litert"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('not here')\n")
    done = racegate("gate", "--policy", "none.toml", "--model", "none")
    assert done.returncode == 2
    assert "bad policy" in done.stderr
