"""The command line as its users have it: real processes, real files, a folder of their own."""

import json
import os
import subprocess
import sys
from base64 import b64decode
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


def predicate(run):
    """What the receipt in a run's folder says."""
    envelope = json.loads((run / "receipt.dsse.json").read_bytes())
    return json.loads(b64decode(envelope["payload"]))["predicate"]


@dataclass(frozen=True)
class Done:
    """A command that has ended, and the folder it ran in."""

    code: int
    out: str
    err: str
    folder: Path

    @property
    def text(self):
        return self.out + self.err

    @property
    def token(self):
        """The first replay token that was printed."""
        return next(line.split()[2] for line in self.out.splitlines() if line.strip().startswith("racegate replay"))

    @property
    def runs(self):
        """The folders with a receipt, oldest first."""
        return sorted((path.parent for path in self.folder.glob("**/receipt.dsse.json")), key=lambda path: path.name)

    @property
    def predicates(self):
        """What the receipts say, as the gate reads it: from the envelope."""
        return [predicate(run) for run in self.runs]

    @property
    def predicate(self):
        """The only receipt's."""
        (only,) = self.predicates
        return only

    @property
    def verdicts(self):
        """Scenario -> verdict, of the only receipt."""
        return {entry["id"]: entry["verdict"] for entry in self.predicate["scenarios"]}


class Racegate:
    """Runs `racegate` in one folder. No command may show a traceback or end with a code that is not ours."""

    def __init__(self, folder, cache):
        self.folder = folder
        self.cache = cache

    def environment(self, **extra):
        return {**os.environ, "PYTHONPATH": str(ROOT), "RACEGATE_CACHE": str(self.cache), **extra}

    def __call__(self, *args, timeout=110, **env):
        ended = subprocess.run(
            [sys.executable, "-m", "harness.cli.main", *map(str, args)],
            capture_output=True,
            text=True,
            errors="replace",
            cwd=self.folder,
            env=self.environment(**env),
            timeout=timeout,
            check=False,
        )
        done = Done(ended.returncode, ended.stdout, ended.stderr, self.folder)
        assert "Traceback" not in done.text, done.text
        assert done.code in {0, 1, 2, 3}, done.text
        return done
