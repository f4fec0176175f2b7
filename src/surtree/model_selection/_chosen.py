"""Attributes of the model that a search has chosen, on the search itself."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted


class OfChosen:
    """An attribute of ``best_estimator_`` that is read and set on the search too."""

    def __set_name__(self, owner: type, name: str) -> None:
        """Remember what the attribute is called."""
        self.name = name

    def __get__(self, search: Any, owner: type | None = None) -> Any:
        if search is None:
            return self
        check_is_fitted(search)
        return getattr(search.best_estimator_, self.name)

    def __set__(self, search: Any, value: Any) -> None:
        check_is_fitted(search)
        setattr(search.best_estimator_, self.name, value)
