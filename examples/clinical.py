# %% [markdown]
# # Who is at risk after breast surgery?
#
# The German Breast Cancer Study Group followed 686 women after surgery until recurrence or death.
# We look for groups with different outlooks that a clinician can remember: a few yes-or-no
# questions and a survival curve for each group. Run this file as a script, or cell by cell as a
# notebook.

# %%
from pathlib import Path

from surtree import SurTreeCV, audit_tree
from surtree.datasets import load_gbsg2
from surtree.export import export_text
from surtree.heuristics import GreedyTree
from surtree.plot import plot_curves, plot_path, plot_tree
from surtree.report import write_report

X, y = load_gbsg2()
X.head()

# %% [markdown]
# ## How many questions?
#
# More questions always fit these women better, and at some point fit only them. Ten-fold
# cross-validation tells where that begins, and how much each leaf should trust its own few women
# (*shrinkage*). One search finds the best tree of *every* size, so this takes a moment.

# %%
search = SurTreeCV(max_depth=3).fit(X, y)
print(search.sizes_)

# %%
plot_path(search).figure.savefig("clinical-sizes.png", dpi=120)

# %% [markdown]
# Five questions and a prior worth one event do best on women whom the tree has not seen. All sizes
# above zero are within about a standard error of each other, so whoever wants fewer questions does
# not lose much: `model.path_[3].tree` is the best tree with three.
#
# ## How well does it predict?
#
# The same folds tell how trees of this size do on women whom they have not seen.

# %%
print(search.held_out_)

# %% [markdown]
# ## The tree
#
# It is the best of all trees of its size, and that is proven: its loss equals a bound that no such
# tree can beat.

# %%
model = search.best_estimator_
print(model.tree_)
print(f"\n{model.status_}: loss {model.loss_:.2f}, lower bound {model.lower_bound_:.2f}")

# %%
plot_tree(model, time_unit="days").figure.savefig("clinical-tree.png", dpi=120)
plot_curves(model, time_unit="days").figure.savefig("clinical-curves.png", dpi=120)

# %% [markdown]
# How to read a leaf: *theta* is the hazard relative to all women, so 2 is twice the risk at any
# time; the median is the day until which half of the group has had the event.
#
# ## What a greedy tree would have missed
#
# Everyday packages choose one question at a time. How far from the best does that lead, with the
# same three levels of questions?

# %%
comparison = audit_tree(GreedyTree(max_depth=3).fit(X, y), X, y)
costliest = comparison.split_costs[0]
print(f"The greedy tree misses {100 * comparison.missed:.1f} % of what the best tree explains.")
print(f"The costliest of its questions is {costliest.rule!r}.")

# %% [markdown]
# ## A new patient
#
# Her leaf, her median, and the probability of five years without an event.

# %%
patient = X.head(1).assign(positive_nodes=6, progesterone_receptor=12)
five_years = 5 * 365.25
(survival,) = model.predict_survival_function(patient)
(median,) = model.predict_median(patient)
print(f"leaf {model.apply(patient)[0]}, median {median:.0f} days")
print(f"five years without an event: {survival(five_years):.0%}")

# %% [markdown]
# ## To share
#
# The rules as text, the model as a file that any later version can read, and a page with a
# questionnaire that needs no Python.

# %%
print(export_text(model))
model.save("clinical-model.json")
write_report(model, "clinical-report.html", title="Breast cancer", time_unit="days")
print(*sorted(path.name for path in Path().glob("clinical-*")), sep="\n")
