"""Two workers on one session of a real runtime are caught, and what caught them replays."""

import pytest

REPLAYS = 100
"""`litert`, `tflite` and `onnxruntime` run builtin:permutation; `unsafe-shared` brings the IOBinding on the last."""


def caught(racegate, target, times):
    what = ("--service", "unsafe-shared", "--scenario", "many-clients", "--target", target)
    done = racegate("run", *what, "--seed", 1, "--executions", 20)
    assert done.code == 1, done.text
    (entry,) = done.predicate["scenarios"]
    assert (entry["id"], entry["verdict"]) == ("many-clients", "FAIL")
    tallies = {tally["id"]: tally for tally in entry["invariants"]}
    assert tallies["own-output"]["violated"] > 0
    token = next(item["replayToken"] for item in entry["violations"] if item["invariant"] == "own-output")
    assert f"racegate replay {token}" in done.out
    again = racegate("replay", token, "--times", times)
    assert again.code == 1, again.text
    assert f"{times} replays, 1 history" in again.out
    assert "(own-output, event" in again.out
    assert "<svg" in (done.runs[0] / "report.html").read_text()
    return done


@pytest.mark.runtime
@pytest.mark.parametrize("target", ["litert", "tflite", "onnxruntime"])
def test_a_shared_session_mixes_outputs_up_and_replays_100_times_out_of_100(racegate, require_runtime, target):
    require_runtime(target)
    done = caught(racegate, target, REPLAYS)
    if target == "onnxruntime":  # its sessions may be shared; the binding between run and run may not
        assert done.predicate["runtime"]["options"]["io_binding"] is True


@pytest.mark.runtime
@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("target", ["litert-face", "tflite-face", "onnxruntime-magika"])
def test_the_same_on_a_published_model(racegate, require_runtime, target):
    require_runtime(target.partition("-")[0])
    done = caught(racegate, target, 10)
    assert done.predicate["delegate"]["graphNodes"] > 10
