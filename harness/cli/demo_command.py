"""`racegate demo`: the release suite on what is installed, with a built-in and a published model, then the gate."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.demo_policy import Asked, demo_policy
from harness.cli.main import UNDECIDED
from harness.cli.output import complain, say
from harness.cli.planning import Wishes, prepare
from harness.cli.run_command import Written, exit_code, run_and_write
from harness.cli.stopping import stopping
from harness.cli.targets import PRESETS, Found, default_target, discover
from harness.models.errors import ModelNotFoundError
from harness.models.package import fetch
from harness.models.reference import resolve
from harness.models.registry import adapter_names, load_adapter
from harness.suite.plan import Plan, TargetSpec
from harness.supervisor.identity import harness_record
from harness.supervisor.switch import StopSwitch
from harness.worker.device import describe_device
from reports.atomic import write_atomically
from reports.gate.command import gate
from reports.keys import generate_key, load_private_key

if TYPE_CHECKING:
    from adapters.base import ModelFile

__all__ = ["add_arguments", "execute"]

_PUBLISHED = {"onnxruntime": "onnxruntime-magika", "litert": "litert-face", "tflite": "tflite-face"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the options."""
    parser.add_argument(
        "--out", type=Path, default=Path("out"), metavar="DIR", help="where everything goes (default out)"
    )
    parser.add_argument("--executions", type=int, default=20, metavar="N", help="executions a cell (default 20)")
    parser.add_argument("--seed", type=int, metavar="N", help="default: a fresh one")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="targets at a time (default 2)")


def execute(args: argparse.Namespace) -> int:
    """Fetch, run, write a policy from what was asked for, run the gate."""
    switch = StopSwitch()
    with stopping(switch):
        installed = discover(_runtimes(), switch, 30.0)
        if switch.pulled:
            return UNDECIDED
        targets, missing = _targets(installed)
        if not targets:
            complain("no runtime is installed, so there is nothing to show: pip install onnxruntime ai-edge-litert")
            return UNDECIDED
        args.out.mkdir(parents=True, exist_ok=True)
        made = tempfile.mkdtemp(prefix=f"demo-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-", dir=args.out)
        folder = args.out / Path(made).name  # newer Pythons answer with an absolute path, which is nobody's business
        public = generate_key(folder / "throw-away.pem")
        say(f"made a throw-away key, {public.name}: it shows how signing works and vouches for nothing")
        wishes = Wishes(targets=tuple(targets), seed=args.seed, executions=args.executions)
        prepared = prepare(wishes, switch)
        key = load_private_key(folder / "throw-away.pem")
        written = run_and_write(prepared, folder, key, switch, args.jobs)
    if switch.pulled:
        return UNDECIDED
    code = _decide(folder, public, prepared.plan, installed, written)
    for name in missing:
        complain(f"not fetched, so not run: {name}")
    return code or (UNDECIDED if missing else 0)


def _runtimes() -> Iterable[str]:
    return (name for name in adapter_names() if name in _PUBLISHED)


def _targets(installed: Iterable[Found]) -> tuple[list[str], list[str]]:
    """The targets that can run, and the models that could not be had."""
    targets: list[str] = []
    missing: dict[str, None] = {}
    for found in installed:
        if found.problem:
            say(f"note: {found.adapter}: {found.problem}")
            continue
        targets.append(default_target(found.adapter).name)
        preset = PRESETS[_PUBLISHED[found.adapter]]
        if _have(preset.model):
            targets.append(preset.name)
        else:
            missing[preset.model] = None
    return targets, list(missing)


def _have(reference: str) -> bool:
    suffix = Path(reference).suffix
    try:
        resolve(reference, (suffix,))
    except ModelNotFoundError:
        say(f"fetching {reference}")
        try:
            fetch(reference)
        except ModelNotFoundError as error:
            complain(str(error))
            return False
    return True


def _decide(
    folder: Path,
    public: Path,
    plan: Plan,
    installed: Iterable[Found],
    written: Sequence[Written],
) -> int:
    """Write the models that ship and the policy, then ask the gate as a release would."""
    versions = {item.adapter: item.probe.version for item in installed if item.probe}
    asked = [_asked(target, versions[target.adapter]) for target in plan.targets]
    models = list({item.model.digest: _ship(folder, item.model) for item in asked}.values())
    policy = folder / "gate-policy.toml"
    dirty = harness_record().dirty is not False
    device_class = describe_device().device_class
    text = demo_policy(plan, asked, device_class, public.name, datetime.now(UTC), dirty=dirty)
    write_atomically(policy, text.encode())
    receipts = [item.folder for item in written]
    command = (
        f"racegate gate --policy {policy} {' '.join(f'--model {path}' for path in models)} {folder}/*/receipt.dsse.json"
    )
    say()
    say(command)
    code, text = gate(policy, models, receipts, folder / "decision.json", datetime.now(UTC))
    say(text.rstrip("\n"))
    say(f"everything is in {folder}")
    return code or exit_code((item.record for item in written), interrupted=False)


def _asked(target: TargetSpec, version: str) -> Asked:
    adapter = load_adapter(target.adapter)
    model = resolve(target.model, adapter.suffixes)
    return Asked(target=target, model=model, version=version, delegate=target.delegate or adapter.default_delegate)


def _ship(folder: Path, model: ModelFile) -> Path:
    """Put the model where a release would take it from: the gate hashes the file itself."""
    path = folder / model.name
    write_atomically(path, model.data)
    return path
