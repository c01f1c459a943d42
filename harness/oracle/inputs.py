"""Make inputs from recipes: the same recipe gives the same arrays in every process."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from adapters.base import Array, Contract, TensorSpec
from harness.oracle.expectations import Recipe
from harness.suite.plan import FURTHER_SHAPES, InputDomain

__all__ = ["GENERATORS", "further_shapes", "is_dynamic", "make_input", "recipe_shapes"]

GENERATORS = ("unit", "symmetric", "wide", "sparse", "ramp")
"""How values fill the domain, in the order in which the oracle tries them.

Uniform over the domain, around zero, ten times as wide, mostly zero, and a gradient with noise.
"""


def recipe_shapes(contract: Contract, domains: Mapping[str, InputDomain]) -> dict[str, tuple[int, ...]]:
    """Fix every dynamic dimension: as the domain says, else 1."""
    shapes: dict[str, tuple[int, ...]] = {}
    for spec in contract.inputs:
        fixed = domains[spec.name].shape if spec.name in domains else None
        shapes[spec.name] = fixed if fixed is not None else tuple(1 if size is None else size for size in spec.shape)
    return shapes


def is_dynamic(contract: Contract) -> bool:
    """Whether an input has a dynamic dimension."""
    return any(None in spec.shape for spec in contract.inputs)


def further_shapes(contract: Contract, domains: Mapping[str, InputDomain]) -> tuple[dict[str, tuple[int, ...]], ...]:
    """Shapes beside the first: as the domains say, else with every dynamic dimension larger by 2, and by 1."""
    if not is_dynamic(contract):
        return ()
    first = recipe_shapes(contract, domains)
    further: list[dict[str, tuple[int, ...]]] = []
    for number in range(FURTHER_SHAPES):
        more = FURTHER_SHAPES - number
        further.append({spec.name: _further(spec, first[spec.name], domains, number, more) for spec in contract.inputs})
    return tuple(further)


def _further(
    spec: TensorSpec, first: tuple[int, ...], domains: Mapping[str, InputDomain], number: int, more: int
) -> tuple[int, ...]:
    given = domains[spec.name].shapes if spec.name in domains else ()
    if given:
        return given[number]
    return tuple(size + more if dim is None else size for dim, size in zip(spec.shape, first, strict=True))


def make_input(contract: Contract, recipe: Recipe) -> dict[str, Array]:
    """Make the arrays of one recipe, keyed by input name, contiguous and in native byte order."""
    return {
        # without a dimension numpy hands out a scalar, which is no array
        spec.name: np.asarray(_fill(spec, recipe, recipe.domains.get(spec.name)))
        for spec in contract.inputs
    }


def _fill(spec: TensorSpec, recipe: Recipe, domain: InputDomain | None) -> Array:
    generator = np.random.default_rng([recipe.seed, zlib.crc32(spec.name.encode())])
    dtype = np.dtype(spec.dtype)
    shape = recipe.shapes[spec.name]
    low, high = _limits(dtype, domain)
    unit = _unit(recipe.generator, generator, shape)
    if dtype.kind == "b":
        return unit >= 0.5  # noqa: PLR2004 - the middle of the unit interval
    if dtype.kind in "iu":
        whole: Any = np.floor(low + unit * (high - low))
        return whole.clip(low, high - 1).astype(dtype)
    if recipe.generator == "symmetric" and domain is None:
        unit = unit * 2 - 1
    if recipe.generator == "wide" and domain is None:
        unit = unit * 20 - 10
    return (low + unit * (high - low)).astype(dtype)


def _limits(dtype: np.dtype[Any], domain: InputDomain | None) -> tuple[float, float]:
    if domain is not None:
        return domain.low, domain.high
    if dtype.kind in "iu":
        most = int(np.iinfo(dtype.type).max)
        return 0.0, float(min(256, most))
    return 0.0, 1.0


def _unit(name: str, generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
    values = generator.random(shape)
    if name == "sparse":
        return values * (generator.random(shape) < 0.1)  # noqa: PLR2004 - one value in ten
    if name == "ramp" and values.size:
        ramp = np.linspace(0.0, 1.0, values.size).reshape(shape)
        return np.abs(ramp * generator.random() + (1.0 - ramp) * generator.random() + 0.05 * values) % 1.0
    return values
