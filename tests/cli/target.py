"""Where the target is in the tables of these tests."""

TARGET = ("--time", "days", "--event", "died")
# The best tree within the limits, as `SurTree` finds it.
UNTUNED = (*TARGET, "--no-tune")
