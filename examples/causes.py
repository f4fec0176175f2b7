# %% [markdown]
# # Who dies of melanoma, and who of something else?
#
# 205 patients were operated for malignant melanoma; 57 died of it, and 14 of other causes. A death
# of another cause is not like a patient who was lost: it ends the risk of the first. So the share
# that dies of melanoma is not one minus a Kaplan-Meier curve, and a tree has to know of both
# causes. Run this file as a script, or cell by cell as a notebook.

# %%
from surtree import CompetingRisksTree, CompetingRisksTreeCV, write_report
from surtree.datasets import load_melanoma
from surtree.metrics import calibration, concordance_index_ipcw
from surtree.plot import plot_channels

X, y = load_melanoma()
names = {1: "melanoma", 2: "other causes"}

# %% [markdown]
# ## The tree
#
# In each leaf both causes have a hazard of their own, relative to that of all patients. No other
# tree with these limits has a smaller loss.

# %%
model = CompetingRisksTree(max_depth=2, min_events_leaf=5).fit(X, y)
model.time_unit_ = "days"
print(model.tree_)
print(f"{model.status_}: loss {model.loss_:.2f}, gap {model.gap_:.0%}")

# %% [markdown]
# Thick tumours are what kills by melanoma, and age is what kills otherwise. The share of each that
# is dead after 2000 days, for the first two patients:

# %%
for cause, name in names.items():
    curves = model.predict_cumulative_incidence(X.head(2), cause)
    print(name, [f"{curve(2000):.0%}" for curve in curves])

# %% [markdown]
# A tree for melanoma alone still predicts the other causes, but is not chosen for them.

# %%
melanoma = CompetingRisksTree(max_depth=2, causes=1, min_events_leaf=5).fit(X, y)
print(melanoma.tree_)

# %% [markdown]
# ## How well does it predict?
#
# Cross-validation chooses the size and the shrinkage. The concordance is that of melanoma: of two
# patients, how often the one with the higher risk dies of it first, or while the other no longer
# can.

# %%
search = CompetingRisksTreeCV(max_depth=2).fit(X, y)
print(search.sizes_)
print(search.held_out_)
risk = search.predict(X, cause=1)
print(f"in sample: {concordance_index_ipcw(y, y, risk, cause=1, tau=3000).cindex:.2f}")
groups = calibration(y, search.predict_cumulative_incidence(X, 1), 2000, cause=1)
print(f"predicted {groups.predicted.round(2)}, observed {groups.observed.round(2)}")

# %% [markdown]
# ## Pictures

# %%
plot_channels(model, names=names).figure.savefig("causes-incidence.png", dpi=100)
write_report(model, "causes-report.html", title="Malignant melanoma", time_unit="days")
model.save("causes-model.json")
