"""The example of the documents does what they say it does."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from native_cases import skip_unless_there

DOCUMENT = Path(__file__).parents[4] / "docs" / "faults.md"

pytestmark = pytest.mark.runtime


def test_the_example_prints_what_the_document_shows():
    skip_unless_there("litert")
    section = DOCUMENT.read_text().partition("### The libraries by themselves")[2]
    code, shown = re.findall(r"```(?:python|text)\n(.*?)```", section, re.DOTALL)[:2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == shown
