"""Two columns of dates in place of a time: the days between them."""

import datetime

import polars as pl
import pytest

from surtree import SurTree
from surtree.datasets import load_lung

FORMS = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d %b %Y", "%Y-%m-%d %H:%M:%S", "%d%b%Y")
START = datetime.date(2019, 11, 5)


@pytest.fixture(scope="module")
def lung():
    """A table with a date of diagnosis and a last one; it does not matter when years are leap."""
    X, y = load_lung(backend="polars")
    event, time = y.dtype.names
    starts = [START + datetime.timedelta(days=7 * row) for row in range(len(y))]
    days = [datetime.timedelta(days=int(t)) for t in y[time]]
    ends = [start + more for start, more in zip(starts, days, strict=True)]
    return X.with_columns(
        pl.Series("diagnosed", starts), pl.Series("seen", ends), pl.Series("died", y[event])
    )


@pytest.fixture(scope="module")
def expected():
    return SurTree(max_depth=2).fit(*load_lung())


def fit(surtree, path, *arguments, time="diagnosed..seen", **options):
    return surtree(
        *("fit", path, "--time", time, "--event", "died", "--no-tune", "--max-depth", 2),
        *arguments,
        **options,
    )


@pytest.mark.parametrize("form", [*FORMS, "parquet", "excel"])
def test_dates_of_any_form_give_the_tree_of_the_days(form, surtree, lung, expected, tmp_path):
    path, model = tmp_path / "lung.csv", tmp_path / "m.json"
    if form == "parquet":
        lung.write_parquet(path := tmp_path / "lung.parquet")
    elif form == "excel":
        lung.write_excel(path := tmp_path / "lung.xlsx")
    else:
        texts = pl.col("diagnosed", "seen").cast(pl.Datetime).dt.strftime(form)
        lung.with_columns(texts).write_csv(path)
    said = fit(surtree, path, "--model", model).stderr
    loaded = SurTree.load(model)
    assert loaded.loss_ == expected.loss_
    assert loaded.time_unit_ == "days"
    columns = {line.split()[0]: line.split()[1] for line in said.splitlines()[2:]}
    assert (columns["diagnosed"], columns["seen"]) == ("start", "end")


def test_no_tree_asks_about_the_dates(surtree, lung, tmp_path):
    lung.write_csv(tmp_path / "lung.csv")
    fit(surtree, tmp_path / "lung.csv", "--model", tmp_path / "m.json")
    names = SurTree.load(tmp_path / "m.json").feature_names_in_
    assert not {"diagnosed", "seen", "died"} & set(names)


def test_a_column_of_that_name_is_a_column(surtree, lung, expected, tmp_path):
    days = (pl.col("seen") - pl.col("diagnosed")).dt.total_days().alias("diagnosed..seen")
    lung.with_columns(days).drop("diagnosed", "seen").write_csv(tmp_path / "lung.csv")
    fit(surtree, tmp_path / "lung.csv", "--model", tmp_path / "m.json")
    loaded = SurTree.load(tmp_path / "m.json")
    assert (loaded.loss_, loaded.time_unit_) == (expected.loss_, None)


def test_several_files_need_a_column_of_numbers(surtree, lung, tmp_path):
    (tmp_path / "parts").mkdir()
    lung[:100].write_parquet(tmp_path / "parts" / "a.parquet")
    lung[100:].write_parquet(tmp_path / "parts" / "b.parquet")
    said = fit(surtree, tmp_path / "parts", code=1).stderr
    assert said == (
        "surtree: --time diagnosed..seen is for tables in memory: of several files, give a column "
        "of numbers\n"
    )


@pytest.mark.parametrize(
    ("change", "time", "message"),
    [
        (
            pl.col("seen").dt.offset_by("-9y"),
            "diagnosed..seen",
            "column 'seen' is before column 'diagnosed' in 228 rows (the first is row 1: "
            "2011-09-06 and 2019-11-05)",
        ),
        (
            pl.col("seen").dt.strftime("%m/%d/%Y"),
            "diagnosed..seen",
            "column 'seen' holds '09/06/2020': a date is written 2024-03-31, 31.03.2024 or 31 Mar "
            "2024, in all rows alike",
        ),
        (pl.lit(7).alias("seen"), "diagnosed..seen", "column 'seen' holds 7, which is no date"),
        (
            pl.col("seen"),
            "seen",
            "column 'seen' holds dates such as '2020-09-06', not numbers: --time START..END counts "
            "the days between two columns of dates",
        ),
        (pl.col("seen"), "diagnosed..gone", "there is no column 'gone'"),
    ],
)
def test_errors_name_the_column(change, time, message, surtree, lung, tmp_path):
    lung.with_columns(change).write_csv(tmp_path / "lung.csv")
    result = fit(surtree, tmp_path / "lung.csv", time=time, code=1)
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
