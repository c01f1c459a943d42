"""docs/service-tour.md leads through every file of the service, and the files stay short.

RACEGATE_REFRESH_DOCS=1 pytest tests/docs/test_service_tour.py writes the lines of now.
"""

import os
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "service-tour.md"
SERVICE = ROOT / "harness" / "service"
MOST_LINES = 300
ROW = re.compile(r"^\| \[(\w+\.py)\]\(\.\./harness/service/\1\) \| (\d+) \| .+ \|$", re.MULTILINE)


def lines_of(name):
    return len((SERVICE / name).read_text().splitlines())


def test_every_file_is_listed_once():
    listed = [name for name, _ in ROW.findall(PAGE.read_text())]
    assert sorted(listed) == sorted(path.name for path in SERVICE.glob("*.py") if path.name != "__init__.py")


def test_no_file_is_long():
    assert not {path.name: lines_of(path.name) for path in SERVICE.glob("*.py") if lines_of(path.name) > MOST_LINES}


def test_the_lines_are_about_those_of_now():
    page = PAGE.read_text()
    if os.environ.get("RACEGATE_REFRESH_DOCS"):
        page = ROW.sub(lambda row: row[0].replace(f" | {row[2]} | ", f" | {round(lines_of(row[1]), -1)} | "), page)
        PAGE.write_text(page)
    assert not {name: said for name, said in ROW.findall(page) if abs(int(said) - lines_of(name)) > 10}
