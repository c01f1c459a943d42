"""Scenarios in the smallest configuration that their rule allows, where the suite's is larger.

racegate explore queue --scenario tests/end_to_end/smallest.py:many_clients --strategy exhaustive --bound 2

The docstring says what the configuration has.
"""

from dataclasses import replace

from harness.scenario import Scenario
from scenarios.admission import crowd_at_a_full_queue as crowds
from scenarios.admission import keep_latest as frames
from scenarios.lifecycle import killed
from scenarios.load import fresh_results as fresh
from scenarios.load import many_clients as clients
from scenarios.order import earliest_deadline as deadlines
from scenarios.order import fair_share_floor as floors
from scenarios.order import fair_share_weights as weights
from scenarios.order import priorities
from scenarios.pipeline import stages
from scenarios.pool import lazy_open as lazy
from scenarios.pool import slot_quarantined as quarantine
from scenarios.recovery import neighbours, watchdog
from scenarios.shapes import two_shapes as shapes


def smaller(scenario):
    """Make a function the scenario's script; everything else is the scenario's own."""
    return lambda body: replace(scenario, body=body)


@smaller(clients.many_clients)
def many_clients(script):
    """2 clients."""
    clients.many_clients.body(script, clients=2)


@smaller(frames.camera_frames)
def camera_frames(script):
    """2 frames each."""
    frames.camera_frames.body(script, each=2)


@smaller(fresh.fresh_frames)
def fresh_frames(script):
    """2 frames."""
    fresh.fresh_frames.body(script, count=2)


@smaller(fresh.search_box)
def search_box(script):
    """2 keystrokes."""
    fresh.search_box.body(script, keystrokes=2)


@smaller(fresh.stale_model)
def stale_model(script):
    """1 task before the switch."""
    fresh.stale_model.body(script, before=1)


@smaller(lazy.lazy_open)
def lazy_open(script):
    """2 clients come first."""
    lazy.lazy_open.body(script, clients=2)


@smaller(crowds.crowd_at_a_full_queue)
def crowd_at_a_full_queue(script):
    """1 place, 2 clients."""
    crowds.crowd_at_a_full_queue.body(script, places=1, before=0)


@smaller(priorities.flood_of_low_priority)
def flood_of_low_priority(script):
    """2 of low priority."""
    priorities.flood_of_low_priority.body(script, low=2)


@smaller(priorities.priority_inversion)
def priority_inversion(script):
    """1 in between waits, 1 comes."""
    priorities.priority_inversion.body(script, middle=1)


@smaller(weights.fair_share_weights)
def fair_share_weights(script):
    """2 of each class."""
    weights.fair_share_weights.body(script, each=2)


@smaller(floors.fair_share_floor)
def fair_share_floor(script):
    """3 heavy tasks."""
    floors.fair_share_floor.body(script, heavy=3)


@smaller(deadlines.earliest_deadline)
def earliest_deadline(script):
    """2 deadlines."""
    deadlines.earliest_deadline.body(script, deadlines=deadlines.SECONDS[:2])


@smaller(killed.killed_and_resumed)
def killed_and_resumed(script):
    """2 orders."""
    killed.killed_and_resumed.body(script, count=2)


@smaller(quarantine.slot_quarantined)
def slot_quarantined(script):
    """1 task follows."""
    quarantine.slot_quarantined.body(script, tasks=2)


@smaller(stages.pipeline_hands_over)
def pipeline_hands_over(script):
    """2 clients."""
    stages.pipeline_hands_over.body(script, clients=2)


@smaller(stages.pipeline_backs_up)
def pipeline_backs_up(script):
    """7 tasks."""
    stages.pipeline_backs_up.body(script, count=7)


@smaller(shapes.two_shapes_alternating)
def two_shapes_alternating(script):
    """2 pairs."""
    shapes.two_shapes_alternating.body(script, pairs=2)


@smaller(watchdog.watchdog_waits_for_the_device)
def watchdog_waits_for_the_device(script):
    """a retry alone."""
    watchdog.watchdog_waits_for_the_device.body(script, following=0)


@smaller(watchdog.watchdog_ends_a_hang)
def watchdog_ends_a_hang(script):
    """1 task waits behind it."""
    watchdog.watchdog_ends_a_hang.body(script, behind=1)


@smaller(neighbours.time_out_has_the_neighbours_checked)
def time_out_has_the_neighbours_checked(script):
    """2 tasks follow."""
    neighbours.time_out_has_the_neighbours_checked.body(script, tries=2)


SMALLEST = tuple(value for value in dict(globals()).values() if isinstance(value, Scenario))
