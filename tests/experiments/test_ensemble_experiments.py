"""The experiment on many trees: what is scored, and what its page counts."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from experiments import ensembles, ensembles_page
from experiments.ensembles import EnsembleCase
from experiments.real import RealCase, cut_fold
from surtree import SurTreeBayes, SurTreeCV


def test_scores_of_ours_are_those_of_the_models():
    case = EnsembleCase("csl", 0, "average", 5)
    outer = cut_fold(RealCase("csl", "clean", 4, 0, "surtree", 17))
    for method, model in (("average", SurTreeBayes()), ("tuned tree", SurTreeCV(max_depth=4))):
        found = ensembles.measure(replace(case, method=method))
        model.fit(outer.X_train, outer.y_train)
        loss = model.loss(outer.X_test, outer.y_test) / len(outer.y_test)
        assert found["loss"] == pytest.approx(loss)
        assert found["c"] == pytest.approx(model.score(outer.X_test, outer.y_test), abs=1e-3)


def test_others_have_few_rows_of_large_tables(monkeypatch):
    pytest.importorskip("sksurv")
    monkeypatch.setattr(ensembles, "MOST_ROWS", 300)
    found = ensembles.measure(EnsembleCase("csl", 0, "random survival forest", 5))
    assert (found["rows"], found["status"]) == (300, "done")
    assert np.isnan(found["loss"])


def test_pages_count_tables_on_which_a_method_is_ahead():
    rows = pd.DataFrame(
        [
            {"table": f"t{table}", "fold": fold, "method": method, "loss": loss, "share": share}
            for table in range(4)
            for fold in range(2)
            for method, share, loss in (
                ("tuned tree", 0.0, 1.0),
                ("bag", 0.75, 1.0 + (0.1 if table == 3 else -0.2) + (1 if fold else -1)),
            )
        ]
    )
    bag = ensembles_page.compare(rows, "loss", "bag", "tuned tree")
    assert (bag["tables"], bag["better"]) == (4, 3)
    assert bag["mean difference"] == pytest.approx(-0.125)
