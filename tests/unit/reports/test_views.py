"""Table, summary, JUnit, HTML and timeline: what people read."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from golden_files import matches_golden
from junitparser import JUnitXml
from msgspec.structs import replace
from run_records import cell, change, failing_cell, failing_run, first_cell, run, swapped_outputs, tally

from harness.history import Event
from harness.verdict import Control, Failure, Finding, Verdict, Violation
from reports.facts import caveats, invariant_totals, reason
from reports.html import html_page
from reports.junit import junit_xml
from reports.summary import summary
from reports.table import table
from reports.timeline_svg import MAX_EVENTS, timeline_svg, visible_events

NASTY = "<script>alert(1)</script> | `x` \x1b[31m\n## ALLOW @team ]]> \u202e"
VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """Checks nesting and unique ids while it collects tags."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == [], self.open
        assert len(set(self.ids)) == len(self.ids)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        assert len(found) == len(attrs), (tag, attrs)
        self.tags.append((tag, found))
        if "id" in found:
            self.ids.append(found["id"] or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.open)

    def handle_data(self, data):
        self.words.append(data)


def page(record, *, signed=True) -> Page:
    return Page(html_page(record, signed=signed).decode())


def test_golden_table():
    matches_golden("table.txt", table(failing_run(), signed=False))


def test_golden_table_of_a_pass():
    matches_golden("table-pass.txt", table(run(), signed=True))


def test_golden_summary():
    matches_golden("summary.md", summary(failing_run(), signed=False))


VIEWS = {
    "table": table,
    "summary": summary,
    "html": lambda record, *, signed: " ".join(page(record, signed=signed).words),
}
every_view = pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())


def flat(text: str) -> str:
    return " ".join(text.replace("\\", "").replace("  !", "").split())


@every_view
def test_every_view_shows_what_is_unknown_and_what_a_pass_does_not_mean(view):
    text = flat(view(failing_run(), signed=True))
    assert "the model has hidden state" in text
    assert "does not mean that there is none" in text
    assert "racegate replay rg1." in text
    assert "signal 11 (SIGSEGV)" in text


@every_view
def test_every_view_says_unsigned_control_model_and_interrupted(view):
    record = run(model_name="builtin:permutation", interrupted=True)
    text = flat(view(record, signed=False))
    for word in ("UNSIGNED", "CONTROL MODEL", "says nothing about your model", "INTERRUPTED"):
        assert word in text
    plain = flat(view(run(), signed=True))
    for word in ("UNSIGNED", "CONTROL MODEL", "INTERRUPTED"):
        assert word not in plain


@every_view
def test_every_view_shows_a_control_that_surprised_and_that_none_ran(view):
    surprised = Control("unsafe-shared", Verdict.FAIL, "own-output", cell("unsafe-shared"))
    assert "did not see what it must see" in flat(view(run(controls=(surprised,)), signed=True))
    assert "NO CONTROL ran" in flat(view(run(controls=()), signed=True))


@every_view
def test_every_view_shows_premises_that_never_occurred_and_findings(view):
    cells = (
        cell("a", invariants=(tally("own-output"), tally("capacity", 0)), findings=(Finding("budget", "cut short"),)),
    )
    text = flat(view(run(cells=cells), signed=True))
    assert "its premise never occurred" in text
    assert "cut short" in text


@every_view
def test_every_view_shows_a_fallback(view):
    assert "FELL BACK from CPUExecutionProvider" in flat(
        view(change(run(), "delegate", fallback=True, actual="CPU"), signed=True)
    )


def nasty_run():
    failure = replace(
        swapped_outputs(),
        violations=(Violation("own-output", NASTY, (8,)),),
        blocked=(NASTY,),
        events=tuple(replace(each, thread=NASTY, attrs={"says": NASTY, NASTY: 1}) for each in swapped_outputs().events),
    )
    nasty = cell(NASTY, verdict=Verdict.FAIL, reason=NASTY, failures=(failure,), findings=(Finding(NASTY, NASTY),))
    record = run(cells=(nasty,), target=NASTY, model_name=NASTY)
    return change(change(record, "service", name=NASTY), "suite", id=NASTY)


def test_html_escapes_everything():
    text = html_page(nasty_run(), signed=True).decode()
    assert "<script" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert not any(tag == "script" for tag, _ in Page(text).tags)


def test_the_table_is_safe_in_a_terminal():
    text = table(nasty_run(), signed=True)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", text)
    assert not any(line.startswith("## ALLOW") for line in text.splitlines())


def test_the_summary_is_safe_in_a_pull_request():
    text = summary(nasty_run(), signed=True)
    assert "<script" not in text
    assert "@team" not in text
    assert not any(line.startswith("## ALLOW") for line in text.splitlines())
    rows = [line for line in text.splitlines() if line.startswith("|") and "alert" in line]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} <= {3, 4, 5}


def test_junit_is_read_back_with_names_and_classnames():
    suite = next(iter(JUnitXml.fromstring(junit_xml(failing_run()))))
    assert {case.classname for case in suite} == {"racegate.litert-cpu.queue"}
    assert [case.name for case in suite] == [
        "many-clients", "hidden-state", "worker-dies", "queue-full", "model-switch", "control unsafe-shared",
    ]  # fmt: skip
    kinds = [type(case.result[0]).__name__ if case.result else "" for case in suite]
    assert kinds == ["Failure", "Error", "Error", "", "Skipped", ""]
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (6, 1, 2, 1)


def test_junit_is_xml_whatever_the_record_holds():
    assert ET.fromstring(junit_xml(nasty_run())) is not None


def test_junit_shows_a_surprising_control_as_an_error():
    surprised = Control("unsafe-shared", Verdict.FAIL, "own-output", cell("unsafe-shared"))
    assert b'type="CONTROL"' in junit_xml(run(controls=(surprised,)))


def test_the_page_is_well_formed_self_contained_and_accessible():
    found = page(failing_run(), signed=False)
    names = {tag for tag, _ in found.tags}
    assert not names & {"script", "link", "img", "iframe", "object"}
    for tag, attrs in found.tags:
        assert not {"src", "onclick", "onload"} & attrs.keys(), tag
        if "href" in attrs:
            assert attrs["href"].startswith("#")
            assert attrs["href"][1:] in found.ids
        if "aria-labelledby" in attrs:
            assert set(attrs["aria-labelledby"].split()) <= set(found.ids)
        if tag == "th":
            assert attrs["scope"] in {"row", "col"}
    assert ("html", {"lang": "en"}) in found.tags
    style = html_page(run(), signed=True).decode().partition("</style>")[0]
    assert "prefers-color-scheme: dark" in style
    assert "url(" not in style
    assert "@import" not in style


def test_the_timeline_has_a_lane_for_each_thread_and_marks_the_violations():
    svg = ET.fromstring(timeline_svg(swapped_outputs(), "x"))
    name = "{http://www.w3.org/2000/svg}"
    classes = [element.get("class", "") for element in svg.iter()]
    assert classes.count("lane") == 5
    assert classes.count("violating") == 3
    assert sum("unfinished" in each for each in classes) == 2
    labels = " ".join(text for element in svg.iter(f"{name}text") for text in element.itertext())
    assert "invoke" in labels
    assert "worker-2" in labels


def test_bars_of_one_thread_that_overlap_lie_in_rows_of_their_own():
    svg = ET.fromstring(timeline_svg(swapped_outputs(), "x"))
    name = "{http://www.w3.org/2000/svg}"
    boxes = []
    for group in svg.iter(f"{name}g"):
        if group.get("class", "").startswith("call"):
            box = group.find(f"{name}rect")
            boxes.append(tuple(int(box.get(side)) for side in ("x", "y", "width", "height")))
    for place, (x, y, width, height) in enumerate(boxes):
        for x2, y2, width2, height2 in boxes[place + 1 :]:
            assert x + width <= x2 or x2 + width2 <= x or y + height <= y2 or y2 + height2 <= y


def long_failure(first: int) -> Failure:
    events = tuple(Event(seq, 0, "a", "dequeue", "t1") for seq in range(2000))
    return Failure((Violation("own-output", "x", (first,)),), "rg1.x", "d", 1, events)


@pytest.mark.parametrize("first", [0, 3, 900, 1999])
def test_a_long_history_is_cut_around_its_first_violation_and_the_page_says_so(first):
    shown = visible_events(long_failure(first))
    assert len(shown) == MAX_EVENTS
    assert first in {event.seq for event in shown}
    record = first_cell(run(), verdict=Verdict.FAIL, failures=(long_failure(first),))
    assert "1600 more events are in history.jsonl" in html_page(record, signed=True).decode()


def test_an_empty_history_still_has_a_picture():
    record = first_cell(run(), verdict=Verdict.FAIL, failures=(Failure((), "rg1.x", "d", 1, ()),))
    assert page(record)


def test_totals_leave_controls_out():
    totals = {total.id: total.checked for total in invariant_totals(run())}
    assert totals["own-output"] == 200


def test_a_reason_is_found_wherever_it_is():
    assert reason(failing_cell()) == "own-output: t1 was delivered the output of t2"
    assert (
        reason(cell("a", verdict=Verdict.UNKNOWN, invariants=(tally("own-output", 1, unknown="hidden"),)))
        == "own-output: hidden"
    )
    assert reason(cell("a", verdict=Verdict.HUNG)) == "no reason was recorded"
    assert reason(cell("a")) == ""


def test_caveats_of_a_held_run_do_not_say_that_native_calls_ran_one_at_a_time():
    held = first_cell(run(), native="held", oracle="alone")
    assert not any("one at a time" in caveat for caveat in caveats(held, signed=True))
    assert any("the service alone" in caveat for caveat in caveats(held, signed=True))


def test_faults_that_struck_with_no_other_process_watched_are_a_caveat():
    def said(**changes):
        return [line for line in caveats(run(cells=(cell("one", **changes),)), signed=True) if "OTHER PROCESS" in line]

    assert said() == []
    assert said(process_looks=0) == ["NO OTHER PROCESS on the device was watched while faults struck: one."]
    assert said(process_looks=0, faults=()) == []
    assert said(process_looks=0, verdict=Verdict.NOT_APPLICABLE) == []
