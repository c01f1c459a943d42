"""Does a receipt answer a requirement's question? A mismatch is a refusal only where no receipt answers it."""

from __future__ import annotations

from reports.gate.question import Grounds, Question
from reports.gate.refusal import Code

__all__ = ["mismatches"]


def mismatches(question: Question) -> Grounds:
    """Yield every way in which the receipt is about something other than what the requirement is about."""
    yield from _model(question)
    yield from _runtime(question)
    yield from _delegate(question)
    yield from _device(question)
    yield from _service(question)
    yield from _suite(question)


def _model(question: Question) -> Grounds:
    model, pinned = question.testimony.model, question.require.model_sha256
    if model not in question.models:
        yield (
            Code.MODEL_DIGEST,
            (
                f"it is about model {model[:12]}, which is none of the models given to the gate: "
                f"run the suite on the model that ships"
            ),
        )
    elif pinned is not None and model != pinned:
        yield Code.MODEL_DIGEST, f"it is about model {model[:12]}, the requirement asks for {pinned[:12]}"


def _runtime(question: Question) -> Grounds:
    ran, asked = question.receipt.runtime, question.require.runtime
    if ran.name != asked.name or asked.version not in {None, ran.version}:
        wanted = f"{asked.name} {asked.version or ''}".strip()
        yield (
            Code.RUNTIME,
            (
                f"it ran on {ran.name} {ran.version}, the policy asks for {wanted}: "
                f"run the suite on that, or change the policy"
            ),
        )


def _delegate(question: Question) -> Grounds:
    requested, asked = question.receipt.delegate.requested, question.require.delegate.name
    if requested != asked:
        yield (
            Code.DELEGATE_FELL_BACK,
            f"the delegate {asked} was never asked for, the run asked for {requested}: run the target with {asked}",
        )


def _device(question: Question) -> Grounds:
    ran, asked = question.receipt.device.device_class, question.require.device_class
    if ran != asked:
        yield Code.DEVICE_CLASS, f"it ran on a {ran}, the policy asks for a {asked}: run the suite on such a device"


def _service(question: Question) -> Grounds:
    service, asked = question.receipt.service, question.require.service
    pairs = {
        "kind": (service.kind, asked.kind),
        "name": (service.name, asked.name),
        "capacity": (service.capacity, asked.capacity),
        "slots": (service.slots, asked.slots),
        "source digest": (service.source_digest, asked.source_digest),
    }
    for field, (ran, wanted) in pairs.items():
        if wanted is not None and ran != wanted:
            yield (
                Code.SERVICE,
                (
                    f"the service's {field} was {ran}, the policy asks for {wanted}: "
                    f"run the suite on the service that ships"
                ),
            )


def _suite(question: Question) -> Grounds:
    ran, asked = question.receipt.suite.id, question.require.suite.id
    if ran != asked:
        yield Code.SUITE_DIGEST, f"it ran the suite {ran!r}, the policy asks for {asked!r}: run that suite"
