"""The solver: bins and sums of rows in, the best tree of every size out, as positions of cuts.

It knows neither tables nor the words of a cut. `core` is the only module that imports the compiled
one; `reference` is the specification, slow and obvious.
"""

from surtree.solver.problem import Progress

__all__ = ["Progress"]
