"""JUnit XML, for the test views of build servers. It is lossy: never gate on it."""

from __future__ import annotations

from typing import cast

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from harness.verdict import CellResult, RunRecord, Verdict
from reports.escape import plain_text
from reports.facts import control_note, reason, replay_command

__all__ = ["junit_xml"]


def junit_xml(run: RunRecord) -> bytes:
    """One test case for each scenario and each control; UNKNOWN is an error, for JUnit has no word for it."""
    suite = TestSuite(plain_text(f"racegate {run.target} {run.service.name}"))
    # JUnit viewers group by classname, in which dots make folders.
    group = plain_text(f"racegate.{run.target.replace('.', '_')}.{run.service.name.replace('.', '_')}")
    for cell in run.cells:
        case = TestCase(plain_text(cell.scenario), group, round(cell.seconds, 3))
        if result := _result(cell):
            case.result = [result]
        suite.add_testcase(case)
    for control in run.controls:
        case = TestCase(plain_text(f"control {control.name}"), group, round(control.cell.seconds, 3))
        if not control.as_expected:
            case.result = [Error(plain_text(control_note(control)), "CONTROL")]
        suite.add_testcase(case)
    document = JUnitXml("racegate")
    document.add_testsuite(suite)
    return _bytes(document)


def _result(cell: CellResult) -> Failure | Error | Skipped | None:
    if cell.verdict is Verdict.PASS:
        return None
    message = plain_text(reason(cell))
    if cell.verdict is Verdict.NOT_APPLICABLE:
        return Skipped(message, str(cell.verdict))
    kind = Failure if cell.verdict is Verdict.FAIL else Error
    result = kind(message, str(cell.verdict))
    result.text = "\n".join(replay_command(failure) for failure in cell.failures) or message
    return result


def _bytes(document: JUnitXml) -> bytes:
    # The library's serialiser has no types of its own.
    return cast("bytes", document.tostring())
