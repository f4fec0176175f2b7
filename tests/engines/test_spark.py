"""PySpark data frames in local mode. ``make test-spark`` runs these: they need Java and pyspark."""

import os
import shutil
import sys

import numpy as np
import polars as pl
import pytest
from tables import content, gbsg2, messy, synthetic

from surtree import SurTree

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed: make test-spark does it")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java, and there is none", allow_module_level=True)

# That is pyspark's affair, which reads Arrow batches here.
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")

TARGET = ("event", "time")
NAMED = {"sample_weight": "weight", "entry": "entry"}


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "4"}
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def without_enums(frame):
    """Return a table as Spark has it, which knows no ordered categories."""
    return frame.with_columns(pl.col(pl.Enum).cast(pl.String))


def in_spark(spark, frame, path, n_partitions=5):
    frame.write_parquet(path)
    return spark.read.parquet(str(path)).repartition(n_partitions)


@pytest.mark.parametrize(
    ("make", "named"),
    [(gbsg2, {}), (messy, NAMED), (lambda: synthetic(1_000_000), {})],
    ids=["gbsg2", "messy", "a million rows"],
)
def test_the_model_is_the_one_in_memory(make, named, spark, tmp_path):
    frame = without_enums(make())
    rows = in_spark(spark, frame, tmp_path / "rows.parquet")
    expected = content(SurTree(max_depth=3).fit(frame, TARGET, **named), tmp_path)
    assert content(SurTree(max_depth=3).fit(rows, TARGET, **named), tmp_path) == expected


def test_what_a_model_says_of_rows(spark, tmp_path):
    frame = without_enums(gbsg2())
    model = SurTree(max_depth=3).fit(frame, TARGET)
    rows = in_spark(spark, frame, tmp_path / "rows.parquet")
    assert model.loss(rows, TARGET) == model.loss(frame, TARGET)
    assert model.score(rows, TARGET) == model.score(frame, TARGET)
    with pytest.raises(ValueError, match="have no order that predictions could be in"):
        model.predict(rows)
    # Predictions are made where the rows are.
    names = list(model.feature_names_in_)

    def add_risk(parts):
        for part in parts:
            yield part.assign(risk=model.predict(part[names]))

    schema = f"{rows._jdf.schema().toDDL()}, risk double"
    found = pl.from_arrow(rows.mapInPandas(add_risk, schema).toArrow())
    X = found.select(frame.columns).drop("event", "time")
    np.testing.assert_array_equal(found["risk"], model.predict(X))


def test_errors_are_one_line(spark, tmp_path):
    frame = without_enums(gbsg2())
    rows = in_spark(spark, frame, tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="there is no column 'tim'"):
        SurTree().fit(rows, ("event", "tim"))
    with pytest.raises(ValueError, match=r"^Column 'time' has negative times") as raised:
        SurTree().fit(rows.withColumn("time", -rows["time"]), TARGET)
    assert "\n" not in str(raised.value)

    def gone(parts):
        raise OSError("the disk is gone")

    broken = rows.mapInPandas(gone, rows.schema)
    with pytest.raises(ValueError, match=r"^cannot read the Spark data frame: .*the disk is gone"):
        SurTree().fit(broken, TARGET)
    (tmp_path / "rows.parquet").unlink()
    with pytest.raises(
        (OSError, ValueError), match=r"^cannot read the Spark data frame: "
    ) as raised:
        SurTree().fit(rows, TARGET)
    assert "\n" not in str(raised.value)
