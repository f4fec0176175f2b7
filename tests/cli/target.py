"""Where the target is in the tables of these tests."""

TARGET = ("--time", "days", "--event", "died")
