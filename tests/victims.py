"""Families for tests of the fuzzer, in a file of their own so that a process starts soon."""

import os
import time


def dies(rng):
    os.abort()


def hangs(rng):
    time.sleep(600)


def passes(rng):
    rng.random()
