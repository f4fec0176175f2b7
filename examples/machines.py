# %% [markdown]
# # Which pumps fail next?
#
# 800 pumps, of which we know the supplier, the load, the vibration and whether they run around the
# clock. The table has what such tables have: sensors that do not exist, machines that still
# run, and machines that were old already when monitoring began. We make it ourselves, so we know
# what the tree should find. Run this file as a script, or cell by cell as a notebook.

# %%
import sqlite3

import numpy as np
import pandas as pd

from surtree import SurTree
from surtree.export import export_mermaid, export_sql
from surtree.plot import plot_curves

random = np.random.default_rng(7)
n = 800
pumps = pd.DataFrame(
    {
        "supplier": random.choice(["Alder", "Birch", "Cedar"], n),
        "load_percent": random.integers(30, 101, n),
        "vibration_mm_s": random.gamma(5, 0.8, n).round(1),
        "around_the_clock": random.random(n) < 0.4,
    }
)

# %% [markdown]
# The truth: pumps that vibrate fail six times as fast; of the calm ones, those of Cedar that run
# around the clock four times as fast as the others. One vibration sensor in five does not exist.

# %%
vibrating = pumps["vibration_mm_s"] > 4.5
overworked = (pumps["supplier"] == "Cedar") & pumps["around_the_clock"]
hazard = np.where(vibrating, 6.0, np.where(overworked, 4.0, 1.0)) / 4000
failure = random.exponential(1 / hazard)
pumps.loc[random.random(n) < 0.2, "vibration_mm_s"] = np.nan

# %% [markdown]
# ## Late entry
#
# Monitoring began when pumps had run for up to 1000 hours; those that had failed before are not in
# the table. To count the hours before as hours without a failure would make pumps look better than
# they are: `entry` says since when each one could have been seen to fail.

# %%
entry = random.integers(0, 1000, n)
end = entry + random.integers(500, 4000, n)
seen = failure > entry
y = np.zeros(n, dtype=[("failed", bool), ("hours", float)])
y["failed"] = failure <= end
y["hours"] = np.ceil(np.minimum(failure, end))
pumps, y, entry = pumps[seen].reset_index(drop=True), y[seen], entry[seen]
print(f"{len(pumps)} pumps, {y['failed'].sum()} failures")

# %% [markdown]
# ## The tree
#
# At least 30 failures in a group, so that each rests on something. The rule of each question says
# where pumps without a sensor go: that, too, is part of the search.

# %%
model = SurTree(max_depth=3, max_splits=3, min_events_leaf=30).fit(pumps, y, entry=entry)
print(model.tree_)
plot_curves(model, time_unit="hours").figure.savefig("machines-curves.png", dpi=120)

# %% [markdown]
# ## Into the plant's database
#
# The tree as one SQL expression: the maintenance plan is a query, and needs no Python.

# %%
expression = export_sql(model, value="risk")
print(expression)

with sqlite3.connect(":memory:") as database:
    pumps.to_sql("pumps", database, index_label="pump")
    plan = pd.read_sql(
        f"SELECT pump, supplier, {expression} AS risk FROM pumps ORDER BY risk DESC LIMIT 5",
        database,
    )
print(plan)

# %% [markdown]
# And the tree as a picture for the wiki, which draws Mermaid:

# %%
print(export_mermaid(model))
