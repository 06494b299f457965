"""Two processes give the losses that the engine and autograd give in one."""

from functools import partial

import pytest
import torch
from backends import CASES, build, check_losses, losses, make_data, name_of

from graphsct.distributed import Part, write_partition
from graphsct.distributed.backend import Distributed
from graphsct.training.autograd import Autograd
from graphsct.training.data import SplitData


def by_many(folder):
    part = Part.load(folder, torch.float64)
    backend = partial(Distributed, part=part)
    return {
        (name_of(case), hooked): losses(build(part, case, hooked), part.data(), backend)
        for case in CASES
        for hooked in (False, True)
    }


@pytest.mark.slow
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_two_processes_give_the_losses_of_one(workers, tmp_path, sparse):
    data = make_data(sparse)
    write_partition(data, tmp_path, 2, method="metis" if sparse else "contiguous")
    data.x = data.x.double()
    own = SplitData.of(data)
    answers = workers.run(2, by_many, tmp_path)
    for case in CASES:
        by_engine, _ = losses(build(data, case), own)
        by_autograd, _ = losses(build(data, case), own, Autograd)
        for answer in answers:
            plain, name = answer[name_of(case), False]
            hooked, _ = answer[name_of(case), True]
            assert name == "distributed"
            check_losses(plain, by_engine)
            check_losses(plain, by_autograd)
            assert torch.equal(plain, hooked)
