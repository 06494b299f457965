import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from graphsct import DataError
from graphsct.datasets.features import (
    check_features,
    compact,
    normalize_rows,
    sparse_features,
    to_tensor,
)

matrices = arrays(
    np.float32,
    st.tuples(st.integers(1, 9), st.integers(1, 9)),
    elements=st.sampled_from([0, 0, 0, 1, 2.5]),
)


@given(x=matrices)
def test_the_smaller_form_holds_the_same_numbers(x):
    for given_as in (x, sp.csr_array(x), sp.coo_matrix(x)):
        kept = compact(given_as)
        tensor = to_tensor(kept)
        size = 8 * np.count_nonzero(x) + 4 * (len(x) + 1)
        assert (tensor.layout == torch.sparse_csr) == (size < x.nbytes)
        assert tensor.to_dense().numpy().tolist() == x.tolist()


@given(x=matrices)
def test_rows_sum_to_one_or_are_zero(x):
    for form in (x, sp.csr_array(x)):
        rows = to_tensor(normalize_rows(form)).to_dense().numpy()
        sums = rows.sum(1)
        assert np.allclose(sums, (x.sum(1) > 0).astype(float))
        assert np.allclose(rows * x.sum(1, keepdims=True), x, atol=1e-5)


def test_sparse_features_multiply_and_train_like_dense_ones():
    x = to_tensor(compact(sp.random_array((30, 20), density=0.1, rng=0)))
    weight = torch.randn(20, 3, requires_grad=True)
    (x @ weight).square().sum().backward()
    twin = weight.detach().clone().requires_grad_()
    (x.to_dense() @ twin).square().sum().backward()
    torch.testing.assert_close(weight.grad, twin.grad)


def test_training_gets_the_sparse_form_where_it_is_smaller_made_once():
    x = torch.zeros(30, 20)
    x[3, 4] = 2
    for dense in (x, x.double()):
        found = sparse_features(dense)
        assert found.layout == torch.sparse_csr
        assert found.col_indices().dtype == torch.int32
        assert found.to_dense().equal(dense)
        assert sparse_features(dense) is found
        assert sparse_features(found) is found
    kept = sparse_features(x)
    x[5, 6] = 1
    assert sparse_features(x) is not kept
    assert sparse_features(x).to_dense().equal(x)
    for as_it_is in (torch.ones(3, 3), x.half(), x.clone().requires_grad_()):
        assert sparse_features(as_it_is) is as_it_is


def test_broken_features_are_named_with_row_and_column():
    bad = np.zeros((4, 3), dtype=np.float32)
    bad[2, 1] = np.nan
    sparse = sp.csr_array(bad)
    for x in (bad, sparse):
        with pytest.raises(DataError, match=r"x.npy holds nan in row 2, column 1"):
            check_features(x, 4, "x.npy")
    with pytest.raises(DataError, match="holds 1e\\+300 in row 0, column 0"):
        check_features(np.array([[1e300]]), 1, "x.npy")
    with pytest.raises(DataError, match=r"shape \(4, 3\), expected \(5, d\)"):
        check_features(bad, 5, "x.npy")
    with pytest.raises(DataError, match="holds <U1, expected numbers"):
        check_features(np.array([["a"]]), 1, "x.npy")
