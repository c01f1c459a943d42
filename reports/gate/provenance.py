"""Where and when the evidence was made: the device's own fields, the harness, freshness, the challenge."""

from __future__ import annotations

import msgspec
from packaging.version import InvalidVersion, Version

from reports.digests import device_fingerprint
from reports.gate.question import Grounds, Question
from reports.gate.refusal import Code
from reports.instants import format_instant

__all__ = ["provenance"]


def provenance(question: Question) -> Grounds:
    """Yield what is wrong with the circumstances of the run."""
    yield from _fingerprint(question)
    yield from _capabilities(question)
    yield from _harness_version(question)
    yield from _harness_dirty(question)
    yield from _age(question)
    yield from _challenge(question)


def _fingerprint(question: Question) -> Grounds:
    device = question.receipt.device
    computed = device_fingerprint(
        device_class=device.device_class,
        os=device.os,
        cpu=msgspec.to_builtins(device.cpu),
        memory_mib=device.memory_mib,
        accelerators=device.accelerators,
        virtualized=device.virtualized,
    )
    if computed != device.fingerprint:
        yield (
            Code.DEVICE_CLASS,
            "the device's fingerprint does not follow from its fields: the receipt contradicts itself",
        )


def _capabilities(question: Question) -> Grounds:
    declared = question.receipt.service.capabilities
    for capability in question.require.capabilities:
        if capability not in declared:
            yield (
                Code.CAPABILITY,
                (
                    f"the policy asks for the capability {capability!r}, which the service does not declare: "
                    f"add it to the service, or drop it from the policy"
                ),
            )


def _harness_version(question: Question) -> Grounds:
    found, wanted = question.receipt.harness.version, question.loaded.min_version
    try:
        old = Version(found) < wanted
    except InvalidVersion:
        yield Code.HARNESS_VERSION, f"{found[:40]!r} is not a version, the policy asks for {wanted} or newer"
        return
    if old:
        yield (
            Code.HARNESS_VERSION,
            f"made by racegate {found}, the policy asks for {wanted} or newer: update and run again",
        )


def _harness_dirty(question: Question) -> Grounds:
    dirty = question.receipt.harness.dirty
    if dirty is False or question.loaded.policy.harness.allow_dirty:
        return
    state = "had changes of its own" if dirty is True else "could not tell whether it was unchanged"
    yield Code.HARNESS_DIRTY, f"the racegate that ran {state}: run with a released one"


def _age(question: Question) -> Grounds:
    finished, now = question.testimony.finished, question.now
    if finished - now > question.loaded.max_clock_skew:
        yield (
            Code.FROM_THE_FUTURE,
            (
                f"it finished on {format_instant(finished)}, which is still to come: "
                f"set the clock of that device, or of this one"
            ),
        )
    if now - finished > question.loaded.max_age:
        age = question.loaded.policy.freshness.max_age
        yield Code.EXPIRED, f"it finished on {format_instant(finished)}, longer ago than {age}: run the suite again"


def _challenge(question: Question) -> Grounds:
    found = question.receipt.challenge
    answer = None if isinstance(found, msgspec.UnsetType) else found
    required = question.loaded.policy.freshness.challenge == "required"
    if question.challenge is None:
        if required:
            yield Code.CHALLENGE, "the policy requires a challenge, and the gate was given none to compare with"
    elif answer is None:
        yield Code.CHALLENGE, "it answers no challenge: run the suite with the challenge that the gate was given"
    elif answer != question.challenge:
        yield Code.CHALLENGE, "it answers another challenge: run the suite with the challenge that the gate was given"
