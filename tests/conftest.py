"""Test processes side by side prefer a core each, as the workers of a run do: cells pin their threads."""

import os

from harness.suite.plan import CORE

os.environ.setdefault(CORE, os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
