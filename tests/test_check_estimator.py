"""The whole of scikit-learn's own checks, each as a test of its own."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from surtree import SurTree, SurTreeCV
from surtree.heuristics import ConditionalInferenceTree, GreedyTree, LocalSearchTree


@parametrize_with_checks(
    [
        SurTree(),
        SurTree(max_depth=2, leaf_curve="kaplan-meier", n_thresholds=3, ccp_alpha=0.1),
        SurTreeCV(max_depth=3),
        SurTreeCV(max_depth=2, cv=3, rule="1se", leaf_curve="kaplan-meier"),
        GreedyTree(),
        ConditionalInferenceTree(),
        ConditionalInferenceTree(max_depth=3, alpha=0.5, min_split=4, min_bucket=2),
        LocalSearchTree(n_restarts=3),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
