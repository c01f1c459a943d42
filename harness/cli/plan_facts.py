"""What the results of a run rest on, as far as it is known before a worker starts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from harness.suite.select import is_file_reference
from harness.supervisor.identity import harness_record
from harness.supervisor.journal import content_digest

if TYPE_CHECKING:
    from harness.cli.planning import Prepared

__all__ = ["differences", "plan_facts"]


def plan_facts(prepared: Prepared, signer: str) -> dict[str, str]:
    """Everything by a name for a person. `signer` is the key's id, empty for none.

    Nothing that may say whose machine it is stands here in the clear: a worker's command is part of its target's
    digest.
    """
    plan, harness = prepared.plan, harness_record()
    facts = {
        "the suite": f"{plan.suite.id} {plan.suite.version}",
        "the seed": str(plan.seed),
        "the choice of targets": content_digest([target.name for target in plan.targets]),
        "the choice of services": content_digest(plan.services),
        "the choice of scenarios": content_digest(plan.scenarios),
        "the controls": content_digest(plan.controls),
        "the budget": content_digest(plan.budget),
        "the faults": content_digest(plan.faults),
        "the time after which a worker has hung": str(plan.hang_after_s),
        "the challenge": content_digest(plan.challenge),
        "the key": signer,
        "racegate's source": harness.source_digest,
        "the version of Python": harness.python,
    }
    for target in plan.targets:
        materials = prepared.materials[target.name]
        models = sorted((name, model.digest) for name, model in materials.controls.items())
        facts[f"target {target.name}"] = content_digest(target)
        facts[f"the model of target {target.name}"] = materials.model.digest
        if materials.next_model is not None:
            facts[f"the next model of target {target.name}"] = materials.next_model.digest
        facts[f"the models of the controls of target {target.name}"] = content_digest(models)
    return facts | dict(_files(prepared))


def differences(now: Mapping[str, str], then: Mapping[str, str]) -> tuple[str, ...]:
    """The names of what is not the same, in order."""
    return tuple(name for name in sorted({*now, *then}) if now.get(name) != then.get(name))


def _files(prepared: Prepared) -> Iterator[tuple[str, str]]:
    """The files that the user wrote, by their references: a change in one is named before anything runs."""
    plan = prepared.plan
    named = (
        *(target.adapter for target in plan.targets),
        *(service.name for service in plan.services),
        *(control.service.name for control in plan.controls),
        *plan.scenarios,
    )
    for reference in named:
        path = Path(reference.rpartition(":")[0])
        if is_file_reference(reference) and path.is_file():
            yield f"the file {path.name}", hashlib.sha256(path.read_bytes()).hexdigest()
