"""What a receipt says of racegate itself: nothing may run unseen in the place of its sources."""

import subprocess

import pytest

from harness.supervisor import identity


@pytest.fixture
def tree(tmp_path):
    """A checkout with one source, committed."""
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness" / "core.py").write_text("VALUE = 1\n")
    (tmp_path / ".gitignore").write_text("*.so\n")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@example.com"]
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "all"]):
        subprocess.run([*git, *command], check=True)
    return tmp_path


def test_a_checkout_as_it_was_committed_is_clean(tree):
    assert identity._dirty(tree) is False


def test_a_changed_source_is_not(tree):
    (tree / "harness" / "core.py").write_text("VALUE = 2\n")
    assert identity._dirty(tree) is True


@pytest.mark.parametrize("name", ["harness/core.cpython-311-x86_64-linux-gnu.so", "racegate__mypyc.so"])
def test_nor_is_a_compiled_module_beside_the_sources_that_git_ignores(tree, name):
    (tree / name).write_bytes(b"")
    assert identity._dirty(tree) is True
