"""An output of the other model is seen as such, where every run and every named version is right."""

from harness.verdict import Verdict


def test_the_outputs_alone_tell_the_models_apart(bench, specimens):
    (specimen,) = (each for each in specimens if each.path.stem == "labels_of_the_next_model")
    result = bench.run(bench.cell(specimen, "specimen", "switch-under-load", 30))
    assert result.verdict is Verdict.FAIL, result.reason
    violations = [violation for failure in result.failures for violation in failure.violations]
    assert {violation.invariant for violation in violations} == {"one-version"}
    assert all("its output is that of the next model" in violation.message for violation in violations), violations
