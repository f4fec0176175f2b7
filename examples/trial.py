# %% [markdown]
# # For whom does it work?
#
# Men who left prison, some of them with financial aid, given by lot. Did aid keep them from being
# arrested again, and did it do so more for some than for others?

# %%
from surtree import EffectTree, correct_effects, heterogeneity_test, write_report
from surtree.datasets import load_rossi
from surtree.plot import plot_tree

X, y = load_rossi()
aid = X.pop("financial_aid")

# %% [markdown]
# The optimal tree of two leaves: where do the arms differ most differently?

# %%
model = EffectTree(max_depth=1).fit(X, y, treatment=aid)
print(model.tree_)

# %% [markdown]
# A tree always finds something. Is there any evidence that the effect is not the same for all?
# 499 trials with one effect for everybody are drawn, and the best tree is found for each of them.

# %%
model.heterogeneity_ = heterogeneity_test(model, X, y, aid)
print(model.heterogeneity_)

# %% [markdown]
# And how far apart are leaves to be expected in new data?

# %%
model.correction_ = correct_effects(model, X, y, aid)
print(model.correction_)

# %% [markdown]
# There is none: aid lowers the hazard by a quarter or so, and these rows do not say for whom more.
# So predict one effect for everybody. Pictures and the report show the arms of each leaf, and say
# the same.

# %%
print(model.predict_effect(X.head(3), corrected=True).round(3))
plot_tree(model, time_unit="weeks").figure.savefig("trial-tree.png")
write_report(model, "trial-report.html", title="Financial aid", time_unit="weeks")
