"""Barrier: wait, abort, reset, time-out."""

# ruff: noqa: ARG001 - a program is given its trace, whether it uses it or not

import threading

from litmus_threads import LATE, SOON, apart, beside, together


def _meet(barrier, timeout=LATE):
    try:
        return barrier.wait(timeout)
    except threading.BrokenBarrierError:
        return "broken"


def two_meet(trace):
    barrier = threading.Barrier(2)

    def meet(name):
        trace.append((name, _meet(barrier)))

    together(lambda: meet("a"), lambda: meet("b"))
    return tuple(sorted(trace))


def one_does_not_wait_long(trace):
    barrier = threading.Barrier(2)
    return beside(lambda: trace.append(_meet(barrier)), lambda: _meet(barrier, SOON)), tuple(trace)


def abort_against_wait(trace):
    barrier = threading.Barrier(2)
    return beside(barrier.abort, lambda: _meet(barrier)), barrier.broken


def reset_against_wait(trace):
    barrier = threading.Barrier(2)

    def reset():
        barrier.reset()
        return _meet(barrier, SOON)

    return beside(lambda: trace.append(_meet(barrier, SOON)), reset), tuple(trace)


def an_action_runs_once(trace):
    barrier = threading.Barrier(2, action=lambda: trace.append("action"))
    together(lambda: trace.append(type(_meet(barrier)).__name__), lambda: trace.append(type(_meet(barrier)).__name__))
    return tuple(trace)


def asked_twice_whether_it_is_broken(trace):
    barrier = threading.Barrier(2)
    return apart(barrier.abort, lambda: (barrier.broken, barrier.broken))


def asked_twice_how_many_wait(trace):
    barrier = threading.Barrier(2)

    def main():
        seen = barrier.n_waiting, barrier.n_waiting
        _meet(barrier)
        return seen

    return beside(lambda: _meet(barrier), main)
