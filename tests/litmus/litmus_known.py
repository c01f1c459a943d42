"""Where the engine is known to fall short: each entry is a defect or a limit, and a test says when it is gone."""

LOST_BY_REDUCTION: dict[str, str] = {}
"""Programs of which the reduced search leaves outcomes out."""

DIFFERS_BY_CARRIER: dict[str, str] = {}
"""Programs that behave differently on the two carriers."""

NOT_UNDER_CONTROL = {
    "clocks/a_clock_goes_on": ("False",),
    "futures/as_they_complete": ("(1, 2)",),
}
"""Outcomes of real threads that no search shows, within three preemptions."""

NEVER_REAL: dict[str, tuple[str, ...]] = {}
"""Outcomes under control that real threads cannot show."""

UNSEEN_STATE: set[str] = set()
"""Programs that share state which the instrumentation does not see: real threads may show more than control does."""
