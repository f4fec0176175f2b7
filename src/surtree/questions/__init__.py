"""Questions by force: the best tree that asks this first, or never asks that; and what it costs."""

from surtree.questions._force import ForcedTree, force_questions
from surtree.questions.columns import ColumnCost, ColumnCosts, column_costs
from surtree.questions.costs import NodeQuestions, PricedQuestion, QuestionCosts, question_costs
from surtree.questions.keep import keep
from surtree.questions.near import NearOptimal, near_optimal
from surtree.questions.near_result import FirstTree, NearColumn, PersonRanges
from surtree.questions.swaps import QuestionSwaps, Swap, question_swaps

__all__ = [
    "ColumnCost",
    "ColumnCosts",
    "FirstTree",
    "ForcedTree",
    "NearColumn",
    "NearOptimal",
    "NodeQuestions",
    "PersonRanges",
    "PricedQuestion",
    "QuestionCosts",
    "QuestionSwaps",
    "Swap",
    "column_costs",
    "force_questions",
    "keep",
    "near_optimal",
    "question_costs",
    "question_swaps",
]
