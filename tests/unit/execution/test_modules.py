"""What actors share is reported wherever the script's code stands, and a search then leaves out no more than it may."""

import sys

from harness.engine.instrument.contents import MARK
from harness.execution.modules import see_into
from harness.loading import load_file

DELEGATES = """
from dataclasses import replace
import own_steps
from scenarios.admission import crowd_at_a_full_queue as crowds
from harness.scenario import Scenario

def body(script):
    own_steps.twice(crowds.crowd_at_a_full_queue.body, script)

crowd_at_a_full_queue = replace(crowds.crowd_at_a_full_queue, body=body)
"""
OWN = """
def twice(body, script):
    seen = []
    seen.append(body)
    body(script)
"""
NAMED = """
from dataclasses import replace
from scenarios.lifecycle.close_again import close_twice as other

def close_twice(script):
    script.rest()

mine = replace(other, body=close_twice)
"""


def reports(function):
    codes = [function.__code__]
    for code in codes:
        codes.extend(each for each in code.co_consts if isinstance(each, type(code)))
    return any(name.startswith("_racegate_") for code in codes for name in code.co_names)


def test_a_script_is_seen_into_through_the_modules_that_it_delegates_to(tmp_path, monkeypatch):
    (tmp_path / "own_steps.py").write_text(OWN)
    (tmp_path / "smaller.py").write_text(DELEGATES)
    monkeypatch.syspath_prepend(tmp_path)
    module = load_file(str(tmp_path / "smaller.py"))
    scenario = module.crowd_at_a_full_queue
    see_into(scenario)
    assert MARK in vars(sys.modules["own_steps"])
    assert reports(sys.modules["own_steps"].twice)
    assert reports(sys.modules["scenarios.admission.crowd_at_a_full_queue"].crowd_at_a_full_queue.body)
    assert MARK not in vars(sys.modules["harness.scenario"])


def test_what_has_another_modules_name_keeps_its_own_code(tmp_path):
    (tmp_path / "named.py").write_text(NAMED)
    module = load_file(str(tmp_path / "named.py"))
    see_into(module.mine)
    assert "rest" not in module.other.body.__code__.co_names
    assert "rest" in module.close_twice.__code__.co_names
