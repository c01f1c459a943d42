from datetime import UTC, datetime

import pytest

from adapters.base import ModelFile
from harness.cli.demo_policy import Asked, demo_policy
from harness.suite.plan import Budget, Plan, ServiceSpec, TargetSpec
from harness.verdict import SuiteRecord
from reports.keys import generate_key
from reports.policy import parse_policy

MODEL = ModelFile(name="m.onnx", suffix=".onnx", data=b"model")
PLAN = Plan(
    suite=SuiteRecord("release", "1"),
    targets=(TargetSpec("onnxruntime", "onnxruntime"),),
    services=(ServiceSpec("queue"), ServiceSpec("pool", slots=2)),
    scenarios=("many-clients",),
    budget=Budget(executions=20),
)


@pytest.mark.parametrize("dirty", [True, False])
def test_the_policy_asks_for_every_target_with_every_service(tmp_path, dirty):
    public = generate_key(tmp_path / "key.pem")
    asked = [Asked(target=PLAN.targets[0], model=MODEL, version="1.32.0", delegate="CPUExecutionProvider")]
    text = demo_policy(PLAN, asked, "linux-x86_64-cpu", public.name, datetime.now(UTC), dirty=dirty)
    policy = parse_policy(text.encode(), tmp_path).policy
    assert [require.id for require in policy.require] == ["onnxruntime-queue", "onnxruntime-pool"]
    assert policy.harness.allow_dirty is dirty
    require = policy.require[1]
    assert (require.service.kind, require.service.slots) == ("pool", 2)
    assert require.model_sha256 == MODEL.digest
    assert require.runtime.version == "1.32.0"
    assert require.scenarios == ("many-clients",)
    assert require.min_executions_per_scenario == 20
