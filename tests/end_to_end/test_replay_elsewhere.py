"""A replay where what failed cannot fail: one clear line, and undecided. Never "nothing is violated"."""

from pathlib import Path

import pytest

SPECIMEN = f"{Path(__file__).parents[1] / 'specimens' / 'terminal_once' / 'error_only_logged.py'}:specimen"
SUITE = """
schema = "suite/1"
id = "native"
version = "1"
scenarios = ["many-clients"]
seed = 7
budget = { executions = 2 }
[[target]]
name = "litert"
adapter = "litert"
watch_process = false
[[fault]]
name = "native-run-failure"
"""


@pytest.mark.runtime
def test_a_fault_inside_native_code_without_a_compiler(racegate, require_runtime, tmp_path):
    require_runtime("litert")
    (racegate.folder / "s.toml").write_text(SUITE)
    done = racegate("run", "s.toml", "--service", SPECIMEN)
    if set(done.verdicts.values()) == {"NOT_APPLICABLE"}:
        pytest.skip("no fault can strike inside native code here")
    assert done.code == 1, done.text
    replay = ("replay", done.token, "--service", SPECIMEN)
    assert racegate(*replay).code == 1
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    again = racegate(*replay, PATH=str(nothing), RACEGATE_CACHE=str(nothing), CC="")
    said = "CannotReplay: there is no C compiler (cc, gcc, clang, or what CC names)"
    assert (again.code, again.out.strip(), again.err) == (3, said, "")
