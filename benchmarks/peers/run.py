"""racegate's engine beside other tools that look for concurrency bugs in Python, on one unmodified queue.

Each tool runs in an environment of its own below `build/`, all on one core, in turns.

    python benchmarks/peers/run.py --python python3.11 --python python3.13
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import platform
import select
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GRACE_SECONDS = 15.0
"""How much longer than asked for a tool may take to answer."""
REPEAT_BELOW_SECONDS = 1.0
"""A bug found sooner is looked for with more seeds, and the median counts."""
SEEDS = (1, 2, 3)
COMPILED = "compiled"
"""Where an environment has racegate with a compiled core."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One way to run the workload. `python` is the oldest or the newest interpreter given, that is at least `least`."""

    name: str
    granularity: str
    file: str
    arguments: tuple[str, ...] = ()
    requirements: str = ""
    python: str = "newest"
    least: tuple[int, int] = (3, 11)
    launcher: str = "python"
    ours: bool = False
    compiled: bool = False
    rates_only: bool = False

    @property
    def label(self) -> str:
        """What the tables call it."""
        return f"{self.name}, {self.granularity}"


def _ours(carrier: str, granularity: str, python: str, core: str) -> Tool:
    return Tool(
        name=f"racegate {core} {carrier}" + (" (older Python)" if python == "oldest" else ""),
        granularity=granularity,
        file="ours.py",
        arguments=(carrier, granularity, core),
        requirements="racegate",
        python=python,
        ours=True,
        compiled=core == "compiled",
        rates_only=python == "oldest" or (core, carrier) == ("interpreted", "greenlets"),
    )


def _interleave(granularity: str, strategy: str, *, rates_only: bool = False) -> Tool:
    return Tool(
        name=f"interleave-test {strategy}",
        granularity={"line": "statement"}.get(granularity, granularity),
        file="peer_interleave_test.py",
        arguments=(granularity, strategy),
        requirements="interleave-test",
        least=(3, 12),
        rates_only=rates_only,
    )


def _frontrun(strategy: str) -> Tool:
    return Tool(
        name=f"frontrun {strategy}",
        granularity="opcode",
        file="peer_frontrun.py",
        arguments=(strategy,),
        requirements="frontrun",
        python="oldest",
        launcher="frontrun",
    )


TOOLS = (
    *(
        _ours(carrier, granularity, python, core)
        for python in ("newest", "oldest")
        for core in ("compiled", "interpreted")
        for granularity in ("sync", "statement")
        for carrier in ("greenlets", "threads")
    ),
    _interleave("sync", "pct"),
    _interleave("sync", "random", rates_only=True),
    _interleave("line", "pct"),
    _interleave("line", "random", rates_only=True),
    _interleave("opcode", "pct", rates_only=True),
    _frontrun("dpor"),
    _frontrun("random"),
    Tool(name="ploom", granularity="own operations", file="peer_ploom.py", requirements="ploom", least=(3, 13)),
    Tool(name="plain stress", granularity="real threads", file="stress.py", arguments=("plain",)),
    Tool(
        name="Hypothesis stress",
        granularity="real threads",
        file="stress.py",
        arguments=("hypothesis",),
        requirements="hypothesis",
    ),
)


class Environments:
    """Makes the virtual environments, once each."""

    def __init__(self, interpreters: list[str], folder: Path) -> None:
        versions = {_version(interpreter): interpreter for interpreter in interpreters}
        self.versions = dict(sorted(versions.items()))
        self._folder = folder
        self._made: dict[tuple[str, tuple[int, int]], str] = {}

    def choose(self, tool: Tool) -> tuple[int, int] | None:
        """The version that the tool runs on; None if none given is new enough, or it would be the newest once more."""
        able = [version for version in self.versions if version >= tool.least]
        if not able or (tool.ours and tool.python == "oldest" and len(self.versions) == 1):
            return None
        return able[0 if tool.python == "oldest" else -1]

    def prepare(self, tool: Tool, version: tuple[int, int]) -> tuple[Path, str]:
        """The folder of its commands, and what pip said if it, or a compiled core that it needs, does not install."""
        tag = f"{tool.requirements or 'plain'}-{version[0]}.{version[1]}"
        folder = self._folder / tag
        key = (tool.requirements, version)
        if key not in self._made:
            self._made[key] = _install(folder, self.versions[version], tool.requirements)
        if tool.compiled and (core := ("compiled", version)) not in self._made:
            self._made[core] = _compile(folder)
        return folder / "bin", self._made[key] or (self._made["compiled", version] if tool.compiled else "")


def _version(interpreter: str) -> tuple[int, int]:
    said = subprocess.run(  # noqa: S603 - the interpreter that the caller names
        [interpreter, "-c", "import sys; print(tuple(sys.version_info[:2]))"],
        check=True,
        capture_output=True,
        text=True,
    )
    return ast.literal_eval(said.stdout)


def _install(folder: Path, interpreter: str, requirements: str) -> str:
    ready = folder / "ready"
    listed = HERE / f"requirements-{requirements}.txt"
    wanted = listed.read_text() if requirements else ""
    if ready.exists() and ready.read_text() == wanted:
        return ""
    subprocess.run([interpreter, "-m", "venv", "--clear", str(folder)], check=True)  # noqa: S603
    if requirements:
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        said = subprocess.run([*pip, "--requirement", str(listed)], check=False, capture_output=True, text=True)  # noqa: S603
        if said.returncode != 0:
            return next((line for line in reversed(said.stderr.splitlines()) if "ERROR" in line), "pip failed")
    ready.write_text(wanted)
    return ""


def _compile(folder: Path) -> str:
    """Install racegate with a compiled core, of the sources of now, into a folder of its own."""
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command = [*pip, "--no-deps", "--upgrade", "--target", str(folder / COMPILED), str(ROOT)]
    environment = {**os.environ, "RACEGATE_COMPILED": "1"}
    said = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)  # noqa: S603
    return "" if said.returncode == 0 else next(filter(None, reversed(said.stderr.splitlines())), "pip failed")


class Runner:
    """A tool's process, started when first asked and again after it hung or died."""

    def __init__(self, tool: Tool, commands: Path) -> None:
        self.tool = tool
        launcher = [str(commands / "frontrun"), "python"] if tool.launcher == "frontrun" else [str(commands / "python")]
        self._command = [*launcher, str(HERE / tool.file), *tool.arguments]
        path = f"{commands}{os.pathsep}{os.environ.get('PATH', '')}"
        sources = commands.parent / COMPILED if tool.compiled else ROOT
        self._environment = {**os.environ, "PATH": path, "PYTHONPATH": str(sources), "PYTHONHASHSEED": "0"}
        self._process: subprocess.Popen[str] | None = None

    def ask(self, kind: str, seconds: float, seed: int, *, stop: bool) -> dict[str, Any]:
        """Run a variant; an answer with a `note` and no executions if the tool hangs or dies."""
        process = self._process or self._start()
        assert process.stdin is not None, "it was made with a pipe"
        assert process.stdout is not None, "it was made with a pipe"
        began = time.perf_counter()
        process.stdin.write(json.dumps({"kind": kind, "seconds": seconds, "seed": seed, "stop": stop}) + "\n")
        process.stdin.flush()
        readable, _, _ = select.select([process.stdout], [], [], seconds + GRACE_SECONDS)
        answer = process.stdout.readline() if readable else ""
        if answer:
            return json.loads(answer)
        self.close()
        note = "died" if readable else f"gave no answer in {seconds + GRACE_SECONDS:.0f} s"
        return {"executions": 0, "seconds": time.perf_counter() - began, "reason": "", "note": note}

    def _start(self) -> subprocess.Popen[str]:
        self._process = subprocess.Popen(  # noqa: S603 - our own files
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=self._environment,
            cwd=HERE,
        )
        return self._process

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def measure_rates(runners: list[Runner], rounds: int, seconds: float) -> dict[str, list[float]]:
    """Executions a second of the correct queue, each tool in turn, `rounds` times. A failure would be a false alarm."""
    rates: dict[str, list[float]] = {runner.tool.label: [] for runner in runners}
    for turn in range(rounds):
        for runner in runners:
            found = runner.ask("textbook", seconds, turn + 1, stop=False)
            rates[runner.tool.label].append(found["executions"] / found["seconds"])
            for word in ("reason", "note"):
                if found[word]:
                    print(f"note: {runner.tool.label} on the correct queue: {found[word]}")
            if runner.tool.name == "ploom" and turn == 0:
                print(
                    f"note: ploom ended after {found['executions']} execution(s) of the correct queue, and was content"
                )
    return rates


def find_bugs(runners: list[Runner], bugs: list[str], limit: float) -> dict[tuple[str, str], tuple[float, int] | None]:
    """Median seconds and executions to each bug, None if it was not found within the limit with the first seed."""
    found: dict[tuple[str, str], tuple[float, int] | None] = {}
    for runner in runners:
        found_none = runner.ask("condition", 0.2, 0, stop=False)  # what a first execution loads is not the bug's
        if found_none["reason"]:
            print(f"note: {runner.tool.label} on the correct condition queue: {found_none['reason']}")
    for bug in bugs:
        for runner in runners:
            found[runner.tool.label, bug] = _find(runner, bug, limit)
    return found


def _find(runner: Runner, bug: str, limit: float) -> tuple[float, int] | None:
    answers: list[dict[str, Any]] = []
    for seed in SEEDS:
        answer = runner.ask(bug, limit, seed, stop=True)
        if not answer["reason"] and not answers:
            return None
        answers.append(answer)
        if answer["seconds"] > REPEAT_BELOW_SECONDS:
            break
    seconds = statistics.median(answer["seconds"] for answer in answers)
    return seconds, round(statistics.median(answer["executions"] for answer in answers))


def print_rates(runners: list[Runner], rates: dict[str, list[float]], versions: dict[str, str]) -> None:
    """The table of rates, each with its ratio to the best peer at the same granularity."""
    best = _best_peers(runners, rates)
    print("\n| tool | decision points | Python | executions/s | to the best peer there |\n|---|---|---|---:|---:|")
    for runner in runners:
        tool = runner.tool
        rate = statistics.median(rates[tool.label])
        ratio = f"{rate / best[tool.granularity]:.1f}x" if tool.granularity in best else ""
        name = tool.name.removesuffix(" (older Python)")
        print(f"| {name} | {tool.granularity} | {versions[tool.label]} | {rate:,.0f} | {ratio} |")


def _best_peers(runners: list[Runner], rates: dict[str, list[float]]) -> dict[str, float]:
    best: dict[str, float] = {}
    for runner in runners:
        if not runner.tool.ours:
            rate = statistics.median(rates[runner.tool.label])
            best[runner.tool.granularity] = max(rate, best.get(runner.tool.granularity, 0.0))
    return {granularity: rate for granularity, rate in best.items() if rate > 0}


def print_bugs(
    runners: list[Runner], bugs: list[str], found: dict[tuple[str, str], tuple[float, int] | None], limit: float
) -> None:
    """The table of bugs: milliseconds and executions, and a dash for what was not found."""
    labels = [runner.tool.label for runner in runners]
    print(f"\nMilliseconds (executions) to each bug; a dash: not within {limit:g} s.\n")
    print("| bug | " + " | ".join(labels) + " |\n|---|" + "---:|" * len(labels))
    for bug in bugs:
        print(f"| {bug} | " + " | ".join(_cell(found[label, bug]) for label in labels) + " |")
    totals = [sum(found[label, bug] is not None for bug in bugs) for label in labels]
    print("| **found** | " + " | ".join(f"**{total} of {len(bugs)}**" for total in totals) + " |")
    ours = [runner.tool.label for runner in runners if runner.tool.ours]
    peers = [label for label in labels if label not in ours]
    print()
    for label in ours:
        sooner = [
            bug for bug in bugs if _seconds(found[label, bug]) < min(_seconds(found[peer, bug]) for peer in peers)
        ]
        later = ", ".join(bug for bug in bugs if bug not in sooner) or "none"
        print(f"{label}: sooner than every peer on {len(sooner)} of {len(bugs)}; not on: {later}.")


def _cell(result: tuple[float, int] | None) -> str:
    return "-" if result is None else f"{1000 * result[0]:,.1f} ({result[1]:,})"


def _seconds(result: tuple[float, int] | None) -> float:
    return float("inf") if result is None else result[0]


def prepare(environments: Environments) -> tuple[list[Runner], dict[str, str]]:
    """A runner for each tool that can be here, and its Python; what cannot be is said with the reason."""
    runners: list[Runner] = []
    versions: dict[str, str] = {}
    for tool in TOOLS:
        version = environments.choose(tool)
        if version is None:
            if not tool.ours:
                print(f"note: {tool.label} needs Python {tool.least[0]}.{tool.least[1]}, and none was given")
            continue
        commands, problem = environments.prepare(tool, version)
        if problem:
            print(f"note: {tool.label} does not install on Python {version[0]}.{version[1]}: {problem}")
            continue
        runners.append(Runner(tool, commands))
        versions[tool.label] = f"{version[0]}.{version[1]}"
    return runners, versions


def bug_names() -> list[str]:
    """The names of the bugs, in their order."""
    import queue_under_test  # noqa: PLC0415 - beside this file

    return list(queue_under_test.BUGS)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--python", action="append", help="an interpreter; give 3.11 and 3.13 for every peer")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each round")
    parser.add_argument("--limit", type=float, default=5.0, help="seconds for each bug and tool")
    parser.add_argument("--core", type=int, default=None, help="the core that all share; the last one by default")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "peers")
    chosen = parser.parse_args()
    runners, versions = prepare(Environments(chosen.python or [sys.executable], chosen.build))
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0)) if chosen.core is None else chosen.core})
    print(f"{platform.machine()}, {platform.system()}, {os.cpu_count()} cores, one used")
    try:
        print_rates(runners, measure_rates(runners, chosen.rounds, chosen.seconds), versions)
        searching = [runner for runner in runners if not runner.tool.rates_only]
        bugs = bug_names()
        print_bugs(searching, bugs, find_bugs(searching, bugs, chosen.limit), chosen.limit)
    finally:
        for runner in runners:
            runner.close()


if __name__ == "__main__":
    main()
