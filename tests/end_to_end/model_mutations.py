"""Loads and runs damaged models in one process, many in a row: `python model_mutations.py ADAPTER MODEL FIRST LAST`.

Prints the number of a mutation before it is tried and one word after it, so that whoever reads knows which one the
process died of. The same number is the same damage, always.
"""

import os
import random
import resource
import sys

import numpy as np

from adapters.base import AdapterError, ModelFile
from harness.models.reference import resolve
from harness.models.registry import load_adapter

KINDS = ("one bit", "cut short", "blocks swapped")
ADDRESS_SPACE = 8 << 30
"""Bytes. A damaged dimension asks for more memory than there is, which is to fail and not to bring the machine down."""


def damaged(data, number):
    """The kind of damage of this number, and the bytes."""
    dice = random.Random(number)
    kind = KINDS[number % len(KINDS)]
    if kind == "cut short":
        return kind, data[: dice.randrange(1, len(data))]
    changed = bytearray(data)
    if kind == "one bit":
        changed[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        return kind, bytes(changed)
    size = dice.choice((4, 8, 16, 32))
    one, other = sorted(dice.sample(range(len(data) // size), 2))
    one, other = one * size, other * size
    changed[one : one + size], changed[other : other + size] = data[other : other + size], data[one : one + size]
    return kind, bytes(changed)


def inputs_of(contract):
    return {
        spec.name: np.arange(np.prod(shape := [size or 1 for size in spec.shape])).reshape(shape).astype(spec.dtype)
        for spec in contract.inputs
    }


def outputs_of(adapter, model):
    session = adapter.open(model, adapter.cpu_delegate, {})
    try:
        return session.run(inputs_of(session.contract))
    finally:
        session.close()


def same(outputs, expected):
    return outputs.keys() == expected.keys() and all(
        outputs[name].dtype == expected[name].dtype and np.array_equal(outputs[name], expected[name])
        for name in expected
    )


def verdict(adapter, model, expected):
    """One word for what the runtime made of a model."""
    try:
        outputs = outputs_of(adapter, model)
    except AdapterError:
        return "refused"
    except Exception as error:  # noqa: BLE001 - what the adapter did not classify is a finding of its own
        return f"unclassified:{type(error).__name__}"
    return "same" if same(outputs, expected) else "changed"


def main():
    name, reference, first, last = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    adapter = load_adapter(name)
    model = resolve(reference, adapter.suffixes)
    expected = outputs_of(adapter, model)
    out = os.fdopen(os.dup(1), "w", buffering=1)  # native libraries print to descriptor 1
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in range(first, last):
        print(number, file=out)
        _, data = damaged(model.data, number)
        print(verdict(adapter, ModelFile(name=model.name, suffix=model.suffix, data=data), expected), file=out)


if __name__ == "__main__":
    main()
