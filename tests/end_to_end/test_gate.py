"""The gate over receipts of a real, signed run: it allows that one, and denies each thing that could have changed."""

import json
import shutil
from base64 import b64decode, b64encode
from dataclasses import dataclass

import pytest

from harness.models.reference import resolve
from harness.models.registry import load_adapter
from harness.worker.device import describe_device

SCENARIOS = ("many-clients", "queued-cancel")
POLICY = """
schema = "gate-policy/1"
id = "test"
expires = "2099-01-01T00:00:00Z"
[trust.lab]
keys = ["key.pub.pem"]
device_classes = ["{device}"]
[freshness]
max_age = "P1D"
[harness]
min_version = "0.0"
allow_dirty = true
"""
REQUIRE = """
[[require]]
id = "{adapter}"
model_sha256 = "{digest}"
runtime = {{ name = "{adapter}", version = "{version}" }}
delegate = {{ name = "{delegate}", min_node_share = "{share}", fallback = "deny" }}
device_class = "{device}"
service = {{ kind = "queue", capacity = 2 }}
suite = {{ id = "release" }}
scenarios = {scenarios}
invariants = ["own-output", "terminal-once"]
min_executions_per_scenario = 5
"""
NUMPY, ORT = "numpy", "onnxruntime"


@dataclass(frozen=True)
class Release:
    """A signed run of the queue, and what its policy is made from."""

    racegate: object
    receipts: dict
    models: dict

    def require(self, adapter, **changed):
        """One requirement, with what the test changes."""
        ready = load_adapter(adapter)
        fields = {
            "adapter": adapter,
            "digest": resolve("builtin:permutation", ready.suffixes).digest,
            "version": ready.probe().version,
            "delegate": ready.default_delegate,
            "device": describe_device().device_class,
            "scenarios": json.dumps(SCENARIOS),
            "share": "1.0",
        }
        return REQUIRE.format(**fields | changed)

    def gate(self, policy_folder, require, receipts, models=None, key=None):
        """Write the policy into a folder of its own and ask the gate; returns the command and the codes."""
        shutil.copy(key or self.racegate.folder / "key.pub.pem", policy_folder / "key.pub.pem")
        policy = policy_folder / "policy.toml"
        policy.write_text(POLICY.format(device=describe_device().device_class) + require)
        args = [part for model in models or [self.models[NUMPY]] for part in ("--model", model)]
        decision = policy_folder / "decision.json"
        done = self.racegate("gate", "--policy", policy, *args, "--out", decision, *receipts)
        return done, codes(json.loads(decision.read_bytes())) if decision.exists() else set()


def codes(decision):
    """Every refusal's code, wherever it stands in the decision."""
    if isinstance(decision, dict):
        return {decision["code"]} if "code" in decision else set().union(*map(codes, decision.values()))
    return set().union(*map(codes, decision)) if isinstance(decision, list) else set()


def run(racegate, *args):
    scenarios = [part for name in SCENARIOS for part in ("--scenario", name)] if "--scenario" not in args else []
    done = racegate("run", "--executions", 5, "--seed", 1, *scenarios, *args)
    return done, {
        predicate["runtime"]["name"]: folder for predicate, folder in zip(done.predicates, done.runs, strict=True)
    }


@pytest.fixture(scope="module")
def release(make_racegate, require_runtime):
    require_runtime(ORT)
    racegate = make_racegate("release")
    assert racegate("keygen", "key.pem").code == 0
    done, receipts = run(racegate, "--key", "key.pem", "--service", "queue", "--target", NUMPY, "--target", ORT)
    assert done.code == 0, done.text
    models = {}
    for adapter in (NUMPY, ORT):
        model = resolve("builtin:permutation", load_adapter(adapter).suffixes)
        models[adapter] = racegate.folder / model.name
        models[adapter].write_bytes(model.data)
    return Release(racegate, receipts, models)


@pytest.fixture
def denied(release, tmp_path):
    """Ask the gate about a change to the numpy half, and expect a refusal with this code."""

    def ask(code, *, require="", receipts=None, models=None):
        folder = tmp_path / "policy"
        folder.mkdir()
        requires = require or release.require(NUMPY)
        done, found = release.gate(
            folder, requires, receipts if receipts is not None else [release.receipts[NUMPY]], models
        )
        assert done.code == 1, done.text
        assert code in found, done.text
        assert code in done.out
        assert "DENY" in done.out
        return done

    return ask


@pytest.mark.runtime
def test_it_allows_what_was_asked_for(release, tmp_path):
    require = release.require(NUMPY) + release.require(ORT)
    done, found = release.gate(tmp_path, require, release.receipts.values(), release.models.values())
    assert (done.code, found) == (0, set()), done.text
    assert "ALLOW" in done.out


@pytest.mark.runtime
def test_an_edited_payload(release, denied, tmp_path):
    envelope = json.loads((release.receipts[NUMPY] / "receipt.dsse.json").read_bytes())
    payload = b64decode(envelope["payload"])
    assert b'"executions":5' in payload
    edited = tmp_path / "edited.json"
    envelope["payload"] = b64encode(payload.replace(b'"executions":5', b'"executions":9')).decode()
    edited.write_text(json.dumps(envelope))
    denied("SIGNATURE", receipts=[edited])


@pytest.mark.runtime
def test_another_model(release, denied, tmp_path):
    other = tmp_path / "other.json"
    other.write_bytes(resolve("builtin:affine", (".json",)).data)
    require = release.require(NUMPY, digest=resolve("builtin:affine", (".json",)).digest)
    denied("NO_RECEIPT", require=require, models=[other])


@pytest.mark.runtime
def test_another_runtime_version(release, denied):
    said = denied("NO_RECEIPT", require=release.require(NUMPY, version="0.0.1"))
    assert "0.0.1" in said.out


@pytest.mark.runtime
def test_a_missing_scenario(release, denied):
    denied(
        "SCENARIO_MISSING", require=release.require(NUMPY, scenarios='["many-clients", "queued-cancel", "close-twice"]')
    )


@pytest.mark.runtime
def test_too_few_receipts_for_two_requirements(release, denied):
    require = release.require(NUMPY) + release.require(ORT)
    denied("NO_RECEIPT", require=require, models=list(release.models.values()))


@pytest.mark.runtime
def test_no_receipt(denied):
    denied("NO_RECEIPT", receipts=[])


@pytest.mark.runtime
def test_a_borrowed_key(release, tmp_path):
    assert release.racegate("keygen", tmp_path / "other.pem").code == 0
    done, found = release.gate(
        tmp_path, release.require(NUMPY), [release.receipts[NUMPY]], key=tmp_path / "other.pub.pem"
    )
    assert done.code == 1, done.text
    assert "SIGNATURE" in found


def test_an_unsigned_receipt(racegate, denied):
    done, receipts = run(racegate, "--service", "queue", "--target", NUMPY)
    assert done.code == 0, done.text
    assert "unsigned" in done.out
    denied("SIGNATURE", receipts=receipts.values())


SERVICE = """
from concurrent.futures import ThreadPoolExecutor


class Executor:
    def __init__(self, session):
        self.session, self.executor = session, ThreadPoolExecutor(1)

    def submit(self, inputs):
        return self.executor.submit(self.session.run, inputs)

    def close(self):
        self.executor.shutdown()
        self.session.close()


def queue(open_session, config):
    return Executor(open_session())


queue.kind, queue.capabilities = "queue", {"overflow:reject"}
"""


@pytest.mark.runtime
def test_a_failed_scenario(release, racegate, denied):
    (racegate.folder / "app.py").write_text(SERVICE)
    key = release.racegate.folder / "key.pem"
    wanted = ("--scenario", "many-clients", "--scenario", "input-overwritten")
    done, receipts = run(racegate, "--key", key, "--service", "app.py:queue", "--target", NUMPY, *wanted)
    assert done.code == 1, done.text
    require = release.require(NUMPY, scenarios='["many-clients", "input-overwritten"]')
    denied("SCENARIO_NOT_PASSED", require=require, receipts=receipts.values())


SUITE = """
schema = "suite/1"
id = "release"
version = "1"
scenarios = ["many-clients", "queued-cancel"]
[[target]]
name = "accelerated"
adapter = "onnxruntime"
delegate = "CUDAExecutionProvider"
options = { fallback = true }
[[service]]
name = "queue"
"""


@pytest.mark.runtime
def test_a_delegate_that_fell_back(release, racegate, denied):
    available = load_adapter(ORT).probe().delegates
    if "CUDAExecutionProvider" in available:
        pytest.skip("this machine has the provider that the test needs to be absent")
    (racegate.folder / "s.toml").write_text(SUITE)
    _, receipts = run(racegate, "s.toml", "--key", release.racegate.folder / "key.pem")
    require = release.require(ORT, delegate="CUDAExecutionProvider", share="0.0")
    denied("DELEGATE_FELL_BACK", require=require, receipts=receipts.values(), models=[release.models[ORT]])


@pytest.mark.runtime
@pytest.mark.parametrize(
    "broken", ["", "schema = 1", 'schema = "gate-policy/1"\nunknown = true\n', "[[[", "\x00"], ids=range(5)
)
def test_an_invalid_policy_is_exit_2(release, tmp_path, broken):
    policy = tmp_path / "policy.toml"
    policy.write_text(broken)
    done = release.racegate(
        "gate", "--policy", policy, "--model", release.models[NUMPY], release.receipts[NUMPY], "--out", tmp_path / "d"
    )
    assert done.code == 2, done.text
    assert "policy" in done.text
    assert not (tmp_path / "d").exists()
