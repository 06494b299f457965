"""Gives thousands of wrong inputs to the package and counts what comes of them."""

import os
import random
import shutil
import time
import warnings
from collections import Counter

import pytest

from graphsct.errors import GraphsctError

#: Draws the inputs of a run; another one draws others.
SEED = int(os.environ.get("GRAPHSCT_SEED", "0"))


def attack(kind, number, folder):
    """Give an input of a kind, drawn from its number; returns what came of it.

    Only errors of graphsct may come of it. A warning is no error.
    """
    folder.mkdir()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kind(random.Random(f"{SEED} {kind.__name__} {number}"), folder)
    except GraphsctError:
        return "refused"
    except Exception as error:
        return f"{kind.__name__} {number}: {type(error).__name__}: {error}"
    finally:
        shutil.rmtree(folder)
    return "taken"


def attack_all(kinds, share, folder):
    """Give this share of the inputs of all kinds.

    Args:
        kinds: the number of inputs of each kind
        share: of these numbers
        folder: where files are written

    Returns:
        a table with the counts by kind, and the inputs that raised other errors
    """
    rows, wrong = [], []
    for kind, count in kinds.items():
        began = time.perf_counter()
        seen = [attack(kind, number, folder / "input") for number in range(round(count * share))]
        counts = Counter(seen)
        wrong += [name for name in counts if name not in ("refused", "taken")]
        took = time.perf_counter() - began
        rows.append(
            f"{kind.__name__:16} {len(seen):6} inputs: {counts['refused']:6} refused, "
            f"{counts['taken']:6} taken, {took:6.1f} s"
        )
    return "\n".join(rows), wrong


#: A small share of the inputs always, all of them in slow runs.
in_shares = pytest.mark.parametrize("share", [0.02, pytest.param(1, marks=pytest.mark.slow)])


def check_all(kinds, share, folder, capsys):
    """Print the counts, and fail if any input raised another error."""
    counts, wrong = attack_all(kinds, share, folder)
    with capsys.disabled():
        print(f"\n{counts}")
    assert wrong == []
