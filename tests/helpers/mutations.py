"""Wrong inputs, all drawn from a seed: damaged bytes, odd values, and plain values gone wrong."""

import copy
import math

import numpy as np
import torch

WORDS = [
    b"0",
    b"-1",
    b"9" * 30,
    b"1e400",
    b"nan",
    b"",
    b"a",
    b"\xff",
    b"\xc3\xa9",
    b'"',
    b"'",
    b",",
]
WORDS += [b";", b"\t", b" ", b"\n", b"\r\n", b"\0", b"#", b"{", b"}", b"[", b"]", b":", b"null"]
WORDS += [b"true", b"\\", b"0x10", b"1_0", b"\xef\xbb\xbf", b"source", b"id", b"label"]

PLAIN = [None, True, 0, -1, 1, 2.5, -0.0, 1e308, math.nan, math.inf, 2**50, 2**63, 10**400, "", "a"]
PLAIN += ["gcn", "\ud800", "x" * 5000, [], [[]], [1, "a"], {}, {"a": 1}, {"": None}]


def damaged(random, content):
    """Bytes with one to four damages: something flipped, cut, repeated, moved or put in."""
    found = bytearray(content)
    for _ in range(random.randint(1, 4)):
        start = random.randint(0, len(found))
        end = min(len(found), start + random.choice([1, 1, 2, 8, 50]))
        match random.randrange(6):
            case 0 if found:
                found[start % len(found)] ^= 1 << random.randrange(8)
            case 1:
                del found[start:end]
            case 2:
                found[start:start] = found[start:end] * random.choice([1, 2, 20])
            case 3:
                del found[start:]
            case 4:
                found[start:end] = random.choice(WORDS)
            case _:
                found[start:start] = random.choice(WORDS)
    return bytes(found)


def altered(random, values):
    """Plain values of which one, at any depth, is missing, new or another."""
    values = copy.deepcopy(values)
    here, key = {"": values}, ""
    whole = here
    while isinstance(here[key], dict | list) and here[key] and random.random() < 0.8:
        here = here[key]
        key = random.choice([*here] if isinstance(here, dict) else range(len(here)))
    match random.randrange(4):
        case 0 if here is not whole:
            del here[key]
        case 1 if isinstance(here, dict):
            here[random.choice(["new", "history", "model", "seed"])] = random.choice(PLAIN)
        case _:
            here[key] = random.choice(PLAIN)
    return whole.get("", {})


def odd_tensor(random, rows):
    """A tensor of nearly the right shape, or of a wrong one, with odd values and of any type."""
    shape = random.choice([(), (rows,), (rows, 0), (rows, 2), (rows, 2), (rows, 2), (2, rows)])
    shape = random.choice([shape, shape, shape, (0, 2), (rows + 1, 2), (rows, 2, 2), (1, 2)])
    fill = random.choice([0, 1, -1, 3, 0.5, 1e-30, 1e30, 1e200, math.nan, math.inf])
    found = torch.full(shape, fill, dtype=torch.float64)
    if found.numel() and random.random() < 0.7:
        found = found * torch.arange(found.numel()).reshape(shape)
    kinds = [torch.float32] * 5 + [torch.float64] * 3 + [torch.int64] * 3
    kinds += [torch.float16, torch.bfloat16, torch.int32, torch.uint8, torch.bool, torch.complex64]
    found = found.to(random.choice(kinds))
    if random.random() < 0.1 and found.dim() == 2:
        found = random.choice([found.to_sparse_coo, found.to_sparse_csr, found.to_sparse_csc])()
    elif random.random() < 0.05:
        found = found.to("meta")
    return found.requires_grad_(found.is_floating_point() and random.random() < 0.1)


def odd_value(random, rows):
    """Right features, or anything that somebody may pass instead of them."""
    if random.random() < 0.3:
        return torch.randn(rows, 2, generator=torch.Generator().manual_seed(random.randrange(99)))
    if random.random() < 0.6:
        return odd_tensor(random, rows)
    others = [[[1.0, 2.0]] * rows, [0] * rows, np.zeros((rows, 2)), np.array(["a"] * rows), "x"]
    others += [np.array([None] * rows), object(), range(rows), {"a": 1}, b"bytes", *PLAIN]
    return random.choice(others)


def odd_edges(random, rows):
    """Edges between these nodes, mostly in both directions; or something else."""
    if random.random() < 0.2:
        return odd_value(random, rows)
    count = random.choice([0, 1, 3, 10])
    ends = [[random.randrange(rows) for _ in range(count)] for _ in range(2)]
    edges = torch.tensor([ends[0] + ends[1], ends[1] + ends[0]], dtype=torch.long)
    if random.random() < 0.3 and count:
        edges[random.randrange(2), random.randrange(2 * count)] = random.choice([-1, rows, 10**12])
    return random.choice(
        [edges, edges, edges, edges.tolist(), edges.numpy(), edges.t(), edges.int()]
    )
