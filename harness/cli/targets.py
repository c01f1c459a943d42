"""Which targets a run is about: the suite's, those named on the command line, or what is installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from harness.cli.output import UsageError
from harness.models.reference import PUBLISHED
from harness.models.registry import adapter_names
from harness.suite.plan import InputDomain, TargetSpec
from harness.supervisor.blank import reason_of
from harness.supervisor.staff import Staff
from harness.supervisor.switch import StopSwitch
from harness.worker.protocol import Probe

__all__ = ["NUMPY", "PRESETS", "Found", "default_target", "discover", "named_targets"]

NUMPY = "numpy"
"""The reference adapter: it is always there and proves nothing about a runtime."""
_BYTES = {"bytes": InputDomain(low=0.0, high=257.0, shape=(1, 2048))}
_FACES = PUBLISHED[".tflite"]
_FACE_INPUT = {"input": InputDomain(low=-1.0, high=1.0, shape=(1, 128, 128, 3))}
PRESETS: Mapping[str, TargetSpec] = {
    preset.name: preset
    for preset in (
        TargetSpec("onnxruntime-iobinding", "onnxruntime", options={"io_binding": True}),
        TargetSpec("onnxruntime-magika", "onnxruntime", PUBLISHED[".onnx"], inputs=_BYTES),
        TargetSpec("litert-builtin", "litert", delegate="builtin"),
        TargetSpec("litert-face", "litert", _FACES, inputs=_FACE_INPUT),
        TargetSpec("tflite-builtin", "tflite", delegate="builtin"),
        TargetSpec("tflite-face", "tflite", _FACES, inputs=_FACE_INPUT),
    )
}
"""Targets with a name of their own, beside one for each adapter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What asking an adapter in a worker of its own gave. `problem` is one phrase, empty where the runtime is there."""

    adapter: str
    probe: Probe | None
    problem: str

    @property
    def install(self) -> str:
        """The command that installs the runtime, empty where there is none."""
        return self.probe.install if self.probe else ""


def default_target(adapter: str) -> TargetSpec:
    """The adapter's target when nothing else is said: its default delegate on a built-in model."""
    plain = "".join(letter if letter.isalnum() else "-" for letter in adapter.rpartition(":")[2].lower())
    return TargetSpec(plain.strip("-"), adapter)


def named_targets(names: Sequence[str], suite: Iterable[TargetSpec]) -> tuple[TargetSpec, ...]:
    """Look names up among the suite's targets, the presets and the adapters. Raises UsageError."""
    known = {
        **PRESETS,
        **{name: default_target(name) for name in adapter_names()},
        **{spec.name: spec for spec in suite},
    }
    chosen: dict[str, TargetSpec] = {}
    for name in names:
        spec = known.get(name) or (default_target(name) if ":" in name else None)
        if spec is None:
            message = f"no target {name!r}; there are {', '.join(sorted(known))}"
            raise UsageError(message)
        chosen[spec.name] = spec
    return tuple(chosen.values())


def discover(names: Iterable[str], switch: StopSwitch, hang_after_s: float) -> tuple[Found, ...]:
    """Ask each adapter in a worker of its own: importing a runtime can be slow, print, or crash."""

    def ask(name: str) -> Found:
        answer = Staff(default_target(name), hang_after_s, switch).probe()
        if not isinstance(answer, Probe):
            return Found(adapter=name, probe=None, problem=reason_of(answer))
        return Found(adapter=name, probe=answer, problem="" if answer.importable else answer.why_not or "not installed")

    with ThreadPoolExecutor(max_workers=2) as pool:
        return tuple(pool.map(ask, names))
