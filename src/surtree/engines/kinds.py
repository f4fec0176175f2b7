"""The named columns of other targets: causes of events, and arms of a trial."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from surtree._support.types import Floats
from surtree.data.causes import are_causes, read_arms, refuse_exchanged
from surtree.data.named import RowInputs
from surtree.data.target import Label, Target, check_target, read_time
from surtree.engines._batches import Batch
from surtree.engines._checksums import hash_text
from surtree.engines.rows import TargetNames


@dataclass(frozen=True)
class CauseNames(TargetNames):
    """The columns of a target of competing risks: the cause and the time."""

    causes: tuple[int, ...] = ()  # type: ignore[misc]  # of all rows, once they are known

    shapes = (
        "of a lazy table, y names two columns, the cause (whole numbers, 0 where the row is "
        'censored) and the time: y=("cause", "time")'
    )
    least_columns = 2

    def learn(self, causes: Iterable[int], arms: Mapping[Any, int], model: Any) -> Self:
        return replace(self, causes=tuple(sorted(causes)))

    def of_model(self, model: Any) -> Self:
        return replace(self, causes=model.causes_)

    @property
    def orders(self) -> tuple[TargetNames, ...]:
        return (self,)

    def is_clear(self, batch: Batch) -> bool:
        return True

    def ends(self, target: Target) -> NDArray[np.intp]:
        return target.cause

    def target_of(
        self, ends: NDArray[np.intp], time: Floats, entry: Floats | None = None
    ) -> Target:
        return Target(ends > 0, time, entry, cause=ends, causes=self.causes)

    def marks(self, target: Target) -> list[NDArray[np.uint64]]:
        return [self.ends(target).astype(np.uint64)]

    def _target(self, batch: Batch, entry: Floats | None) -> Target:
        first, second = (batch.column(name) for name in self.y)
        refuse_exchanged(first, second)
        if first.kind == "categorical" or not are_causes(first.values).all():
            raise ValueError(
                f"The cause column {first.name!r} of y holds something else than whole numbers "
                f"from 0 on. The cause comes before the time: {self.shapes}"
            )
        cause = first.values.astype(np.intp)
        target = check_target(cause > 0, read_time(second, self.shapes), batch.n_rows, entry)
        return self.target_of(cause, target.time, target.entry)


@dataclass(frozen=True)
class ArmNames(TargetNames):
    """The columns of the target of a trial: those of one event, and the arm."""

    treatment: str = ""
    labels: tuple[Label, ...] = ()  # type: ignore[misc]  # of all rows, once they are known

    @classmethod
    def of(cls, given: RowInputs, y: tuple[str, ...]) -> Self:
        return cls(y, given.entry, given.sample_weight, treatment=given.treatment)

    @property
    def columns(self) -> tuple[str, ...]:
        return (*super().columns, self.treatment)

    def learn(self, causes: Iterable[int], arms: Mapping[Any, int], model: Any) -> Self:
        given = np.array(list(arms))
        _, labels = read_arms(given, given.size, model.reference)
        counted = np.array([arms[label] for label in labels])
        example = Target(counted > 0, counted).with_arms(np.arange(len(labels)), labels)
        example.narrowed(counted > 0)
        return replace(self, labels=labels)

    def of_model(self, model: Any) -> Self:
        return replace(self, labels=model.arms_)

    @property
    def n_arms(self) -> int:  # type: ignore[override]
        return len(self.labels)

    def arms(self, target: Target) -> NDArray[np.intp]:
        return target.arm

    def arm_rows(self, target: Target) -> dict[Any, int]:
        n_rows = np.bincount(target.arm, minlength=len(target.labels)).tolist()
        return dict(zip(target.labels, n_rows, strict=True))

    @property
    def example(self) -> Target:
        """A target of one row that knows what the arms are called."""
        return super().example.with_arms(np.zeros(1, dtype=np.intp), self.labels)

    def marks(self, target: Target) -> list[NDArray[np.uint64]]:
        hashes = np.array([hash_text(str(label)) for label in target.labels], dtype=np.uint64)
        return [hashes[target.arm]]

    def _target(self, batch: Batch, entry: Floats | None) -> Target:
        target = super()._target(batch, entry)
        codes, labels = batch.labels(self.treatment)
        if (codes < 0).any():
            n_absent = int((codes < 0).sum())
            raise ValueError(
                f"Column {self.treatment!r}, the treatment, has no arm in {n_absent} rows (of the "
                f"first {batch.n_rows:,} rows that were read): drop them"
            )
        if not self.labels:
            return target.with_arms(codes, labels)
        position = {label: number for number, label in enumerate(self.labels)}
        unknown = [label for label in labels if label not in position]
        if unknown:
            raise ValueError(f"treatment holds {unknown[0]!r}, which is none of {list(position)}.")
        numbers = np.array([position[label] for label in labels], dtype=np.intp)
        return target.with_arms(numbers[codes], self.labels)
