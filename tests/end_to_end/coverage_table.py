"""docs/coverage.md: how often each invariant's premise occurred in each scenario, from the receipts of one run."""

from collections import Counter

COMMAND = "make soak"
HEAD = """# Coverage

How often the premise of each invariant occurred in each scenario, with the correct queue and pool, under random
schedules: {budget}.
The model is `builtin:permutation`; for `held-running-cancel` it is `builtin:slow`, with 100 executions wherever a run
can be interrupted, and for the scenarios in which shapes change `builtin:rows`. Those of a pipeline do not apply.
No violation was found. A checker whose premise never occurs says nothing: none is zero over the run.

Made by `{command}`. A column is an invariant of [invariants.md](invariants.md), a row is a scenario, and `·` is none.
"""


def premises(predicates):
    """Service -> scenario -> invariant -> how often its premise occurred, over all targets."""
    found = {}
    for predicate in predicates:
        rows = found.setdefault(predicate["service"]["name"], {})
        for entry in predicate["scenarios"]:
            row = rows.setdefault(entry["id"], Counter())
            row.update({tally["id"]: tally["checked"] for tally in entry["invariants"]})
    return found


def totals(rows):
    """Invariant -> how often its premise occurred in all scenarios of one service."""
    return sum(rows.values(), Counter())


def render(found, invariants, budget):
    """The whole file. `budget` says how much was explored where."""
    parts = [HEAD.format(budget=budget, command=COMMAND)]
    for service, rows in sorted(found.items()):
        parts += [f"\n## {service}\n\n", _line("scenario", invariants), _line("---", ["---:"] * len(invariants))]
        parts += [_line(scenario, [_shown(row[name]) for name in invariants]) for scenario, row in sorted(rows.items())]
        parts.append(_line("**all**", [_shown(totals(rows)[name]) for name in invariants]))
    return "".join(parts)


def _line(first, cells):
    return f"| {' | '.join((first, *cells))} |\n"


def _shown(count):
    return f"{count:,}" if count else "·"
