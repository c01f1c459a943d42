from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from gate_cases import POLICY, WAIVER, write_policy

from reports.instants import format_instant, parse_duration, parse_instant
from reports.policy import PolicyError, load_policy


def test_a_policy_is_read(tmp_path):
    loaded = load_policy(write_policy(tmp_path, POLICY + WAIVER))
    assert loaded.policy.id == "camera-release"
    assert (loaded.max_age, loaded.max_clock_skew) == (timedelta(days=14), timedelta(minutes=5))
    assert loaded.expires == datetime(2027, 6, 30, tzinfo=UTC)
    assert len(loaded.keys["lab-linux"]) == 1


BAD = {
    "not TOML": ("schema =", "schema = =", "not TOML"),
    "unknown key at the top": ("id = ", "colour = 1\nid = ", "unknown field `colour`"),
    "unknown key in a requirement": (
        'device_class = "',
        'fast = 1\ndevice_class = "',
        r"require\[0\]: .*unknown field `fast`",
    ),
    "unknown key in delegate": ("min_node_share", "node_share", r"require\[0\].delegate: .*`node_share`"),
    "skip": ("[harness]", "[harness]\nskip = true", "harness: .*unknown field `skip`"),
    "other schema": ("gate-policy/1", "gate-policy/2", "^the policy breaks its schema: schema: "),
    "no trust": ("[trust.lab-linux]", "[freshness.lab-linux]", "policy"),
    "no keys": ('keys = ["keys/lab-linux.pub.pem"]', "keys = []", "trust.*keys"),
    "missing": ('device_class = "linux', 'id_ = "linux', r"require\[0\]"),
    "wrong type": (
        "min_executions_per_scenario = 100",
        'min_executions_per_scenario = "100"',
        "min_executions_per_scenario: ",
    ),
    "no execution": (
        "min_executions_per_scenario = 100",
        "min_executions_per_scenario = 0",
        "min_executions_per_scenario",
    ),
    "no invariant": (
        'invariants = ["own-output", "terminal-once", "no-delivery-after-cancel"]',
        "invariants = []",
        "invariants",
    ),
    "duration": ('"P14D"', '"14 days"', "freshness.max_age: '14 days' is not a duration"),
    "months": ('"P14D"', '"P1M"', "freshness.max_age"),
    "skew": ('"PT5M"', '"P"', "freshness.max_clock_skew"),
    "time": ("2027-06-30T00:00:00Z", "2027-06-30", "expires: '2027-06-30' is not a time"),
    "no such time": ("2027-06-30T00:00:00Z", "2027-06-31T00:00:00Z", "expires: .*not a time that exists"),
    "version": ('"0.1.0"', '"new"', "harness.min_version"),
    "share": ('min_node_share = "1.0"', 'min_node_share = "1.1"', r"require\[cpu\].delegate.min_node_share"),
    "share as a number": ('min_node_share = "1.0"', "min_node_share = 1.0", "min_node_share"),
    "fallback": ('fallback = "deny"', 'fallback = "sometimes"', "delegate.fallback"),
    "digest": ('digest = "', 'digest = "X', "suite.digest"),
    "key file": (
        "keys/lab-linux.pub.pem",
        "keys/other.pub.pem",
        "trust.lab-linux.keys: cannot read the key other.pub.pem",
    ),
}


@pytest.mark.parametrize(("old", "new", "says"), BAD.values(), ids=BAD.keys())
def test_every_problem_is_one_line_that_names_the_key(tmp_path, old, new, says):
    assert old in POLICY
    path = write_policy(tmp_path, POLICY.replace(old, new, 1))
    with pytest.raises(PolicyError, match=says) as caught:
        load_policy(path)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_a_requirement_pins_its_suite_or_lists_its_scenarios(tmp_path):
    start, _, rest = POLICY.partition(", digest = ")
    listed = start + rest[rest.index(" }") :]
    assert load_policy(write_policy(tmp_path, listed)).policy.require[0].suite.digest is None
    neither = listed.replace('scenarios = ["many-clients", "queue-full"]\n', "")
    with pytest.raises(PolicyError, match=r"require\[cpu\].suite.digest: missing"):
        load_policy(write_policy(tmp_path, neither))


def test_two_requirements_with_one_id(tmp_path):
    require = POLICY[POLICY.index("[[require]]") :]
    with pytest.raises(PolicyError, match=r"require\.id: 'cpu' is there twice"):
        load_policy(write_policy(tmp_path, POLICY + require))


def test_a_waiver_needs_an_approver_and_an_end(tmp_path):
    for line in WAIVER.strip().splitlines()[1:]:
        with pytest.raises(PolicyError, match="waiver"):
            load_policy(write_policy(tmp_path, POLICY + WAIVER.replace(line, "")))


def test_a_policy_that_is_not_there_or_not_text(tmp_path):
    with pytest.raises(PolicyError, match="cannot read the policy"):
        load_policy(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(PolicyError, match="not UTF-8"):
        load_policy(tmp_path / "bytes.toml")


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("P14D", timedelta(days=14)),
        ("PT5M", timedelta(minutes=5)),
        ("P1DT2H3M4S", timedelta(days=1, hours=2, minutes=3, seconds=4)),
        ("P2W", timedelta(weeks=2)),
        ("PT0S", timedelta()),
    ],
)
def test_durations(text, length):
    assert parse_duration(text) == length


@pytest.mark.parametrize(
    "text", ["", "P", "PT", "P1Y", "P1M", "-P1D", "P1.5D", "1D", "P1DT", "p1d", "P1D\n", "P\u0661D"]
)
def test_what_is_no_duration(text):
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-29T18:00:00",
        "2026-11-29T18:00:00+00:00",
        "2026-11-29 18:00:00Z",
        "2026-11-29T18:00:00Z\n",
        "2026-11-29T25:00:00Z",
    ],
)
def test_what_is_no_instant(text):
    with pytest.raises(ValueError, match="not a time"):
        parse_instant(text)


def test_an_instant_comes_back():
    assert format_instant(parse_instant("2026-11-29T18:00:00Z")) == "2026-11-29T18:00:00Z"
    assert parse_instant("2026-11-29T18:00:00.250Z").microsecond == 250_000
