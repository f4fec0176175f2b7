"""The base class of estimators that have files, and the registry of their classes."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from sklearn.utils.validation import check_is_fitted

from surtree._support.json_file import damaged, plain_parameters, write_model_file
from surtree.estimators.base import SurvivalEstimator
from surtree.estimators.parameters import require_parameters

# The class of a file, by its format and by a parameter that only files of the class have.
_CLASSES: dict[tuple[str, str | None], type[SavedEstimator]] = {}


class SavedEstimator(SurvivalEstimator):
    """An estimator that is saved to a file as JSON; a subclass says which format it has."""

    _format: ClassVar[str]
    # The parameter that tells classes of one format apart, and what a model of the class is.
    _own_parameter: ClassVar[str | None] = None
    _kind: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if vars(cls).keys() & {"_format", "_own_parameter"}:
            _CLASSES[cls._format, cls._own_parameter] = cls

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file, as JSON and without code.

        Parameters
        ----------
        path : str or path
            The file, such as ``model.json``; one that is there is replaced. It has no rows, only
            what predicts, what is proven, and what is known about it.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from surtree import SurTree
        >>> from surtree.datasets import load_gbsg2
        >>> X, y = load_gbsg2()
        >>> with TemporaryDirectory() as directory:
        ...     SurTree(max_depth=2).fit(X, y).save(Path(directory) / "model.json")
        ...     model = SurTree.load(Path(directory) / "model.json")
        >>> model.status_, model.predict_median(X.head(3)).tolist()
        ('optimal', [2456.0, 1684.0, 1684.0])
        """
        check_is_fitted(self)
        write_model_file(Path(path), self._file_content())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the model that `save` wrote; `surtree.load` reads models of any class.

        Parameters
        ----------
        path : str or path
            The file. No code in it is run, so it may come from anywhere.

        Returns
        -------
        fitted model
            It predicts exactly as the saved one, and what was known about that is known. Of a file
            that was edited since, the ``status_`` is "edited", and nothing is proven or known. A
            ``progress`` hook, a teacher and a ``RandomState`` are not saved.
        """
        file = Path(path)
        parameters, attributes = cls._read_file(file)
        try:
            cls._require_kind(parameters)
            model = cls(**cls._read_parameters(parameters))
            require_parameters(model)
        except OtherKindError as error:
            raise ValueError(f"{path}: {error}, or with surtree.load, which reads any") from None
        except (TypeError, ValueError) as error:
            raise damaged(file, error) from None
        for name, value in attributes.items():
            setattr(model, name, value)
        fault = model._fault()
        if fault is not None:
            raise damaged(file, ValueError(fault))
        return model

    @abstractmethod
    def _file_content(self) -> dict[str, Any]:
        """Return the fitted model as plain values that JSON can hold."""

    @classmethod
    @abstractmethod
    def _read_file(cls, path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the parameters of a saved model, and what `fit` had learnt."""

    def _plain_parameters(self) -> dict[str, Any]:
        return plain_parameters(self.get_params(deep=False))

    @classmethod
    def _read_parameters(cls, saved: dict[str, Any]) -> dict[str, Any]:
        return saved

    @classmethod
    def _require_kind(cls, parameters: Mapping[str, Any]) -> None:
        """Raise an error if a file of the format is of another class."""
        other = class_of(cls._format, parameters)
        if other is not None and other._own_parameter != cls._own_parameter:
            raise OtherKindError(f"it is {other._kind}: load it with {other.__name__}.load")

    def _fault(self) -> str | None:
        """Return what does not fit between the parameters of a file and its model."""
        return None


class OtherKindError(ValueError):
    """The error of a file that is sound, and of a model of another class."""


def class_of(format_: Any, parameters: Any) -> type[SavedEstimator] | None:
    """Return the class of a file, None if no class has its format."""
    names = parameters if isinstance(parameters, Mapping) else ()
    for (known, own_parameter), model_type in _CLASSES.items():
        if known == format_ and own_parameter is not None and own_parameter in names:
            return model_type
    return _CLASSES.get((format_, None)) if isinstance(format_, str) else None
