"""What kind of device this is: fields that define a class of devices, and nothing that tells two units apart."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path

from harness.verdict import DeviceRecord

__all__ = ["describe_device"]

_ISA_X86 = {"sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512_vnni", "avx512_bf16", "avx_vnni"}
_ISA_X86_TILES = {"amx_tile", "amx_int8", "amx_bf16"}
_ISA_ARM = {"neon", "asimd", "asimdhp", "asimddp", "sve", "sve2", "i8mm", "bf16"}
_ISA = frozenset(_ISA_X86 | _ISA_X86_TILES | _ISA_ARM)
_CGROUP = {"memory.max": "memory_max", "cpu.max": "cpu_max", "pids.max": "pids_max"}


def describe_device(root: Path = Path("/")) -> DeviceRecord:
    """Describe this device from `/proc` and `/sys`; what cannot be read is empty. Never raises."""
    cpu = _cpuinfo(root)
    machine = platform.machine().lower()
    return DeviceRecord(
        device_class=f"{sys.platform}-{machine}-cpu",
        os=platform.system(),
        kernel=platform.release(),
        cpu_arch=machine,
        cpu_model=cpu.get("model name", cpu.get("hardware", "")),
        cpu_cores=os.cpu_count() or 0,
        cpu_isa=tuple(sorted(_ISA & _flags(cpu))),
        memory_mib=_memory_mib(root),
        accelerators=(),
        cgroup_limits=_cgroup_limits(root),
        virtualized=_virtualized(root, cpu),
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _cpuinfo(root: Path) -> Mapping[str, str]:
    """The first processor's entries. Some kernels put a `Serial` here: only named keys are ever taken out."""
    entries: dict[str, str] = {}
    for line in _read(root / "proc/cpuinfo").splitlines():
        key, colon, value = line.partition(":")
        if colon:
            entries.setdefault(key.strip().lower(), value.strip())
    return entries


def _flags(cpu: Mapping[str, str]) -> set[str]:
    return set(cpu.get("flags", cpu.get("features", "")).split())


def _memory_mib(root: Path) -> int:
    for line in _read(root / "proc/meminfo").splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) // 1024
    return 0


def _cgroup_limits(root: Path) -> Mapping[str, str]:
    limits: dict[str, str] = {}
    for file, name in _CGROUP.items():
        if text := _read(root / "sys/fs/cgroup" / file).strip():
            limits[name] = text
    return limits


def _virtualized(root: Path, cpu: Mapping[str, str]) -> str:
    if (root / ".dockerenv").exists() or (root / "run/.containerenv").exists():
        return "container"
    return "hypervisor" if "hypervisor" in _flags(cpu) else "none"
