"""An honest queue for tasks of several shapes: a specimen overrides exactly the step that is wrong.

Loaded by path, as `parts.py` is.
"""

from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parent / "parts.py"))
BoundedQueue = parts["BoundedQueue"]


class ShapeError(ValueError):
    """The shape is not served."""

    refusal = "contract"


class ShapedQueue(BoundedQueue):
    """One worker, whose session changes over to the shape of each task as it binds it."""

    capabilities = frozenset({"overflow:reject", "shapes"})

    def __init__(self, open_session, config):
        self.served = config.shapes
        super().__init__(open_session, config)

    def submit(self, inputs):
        """Accept one task, or raise ShapeError, ClosedError or FullError."""
        self.check(inputs)
        return super().submit(inputs)

    def check(self, inputs):
        """Refuse what is too small or too large."""
        if self.served is not None and not all(self.fits(name, array.shape) for name, array in inputs.items()):
            raise ShapeError

    def fits(self, name, shape):
        """Whether every dimension lies within the bounds; a wrong rank is left to the runtime."""
        bounds = zip(self.served.least[name], shape, self.served.most[name], strict=False)
        return all(least <= size <= most for least, size, most in bounds)
