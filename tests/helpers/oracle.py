"""The same quantities by full dense linear algebra, with nothing taken from the package.

``Dense`` is built from the edges of a case, never from a ``Graph``. Its eigenspace comes from a
full ``eigh``, so agreement with the square roots of the degrees is a finding, not an assumption.
"""

import torch


class Dense:
    def __init__(self, case):
        n = case.num_nodes
        adjacency = torch.zeros(n, n, dtype=torch.float64)
        for k, (i, j) in enumerate(case.edges):
            adjacency[i, j] = adjacency[j, i] = 1.0 if case.weights is None else case.weights[k]
        for i in range(n):
            if adjacency[i, i] == 0:
                adjacency[i, i] = 1
        self.adjacency = adjacency
        self.degree = adjacency.sum(1)
        root = self.degree.rsqrt()
        self.G = root[:, None] * adjacency * root[None, :]
        self.eigenvalues, vectors = torch.linalg.eigh(self.G)
        inside = self.eigenvalues > 1 - 1e-9
        self.m = int(inside.sum())
        self.P = vectors[:, inside] @ vectors[:, inside].T
        self.L = torch.eye(n, dtype=torch.float64) - self.G
        self.outside = self.eigenvalues[~inside]
        reach = torch.linalg.matrix_power(adjacency, n) > 0
        self.component = torch.tensor([int(reach[i].nonzero()[0]) for i in range(n)])
        self.component = torch.unique(self.component, return_inverse=True)[1]
        members = self.component[:, None] == torch.arange(self.m)
        Q = members * self.degree.sqrt()[:, None]
        self.Q = Q / Q.norm(dim=0)

    def distance_to_eigenspace(self, x):
        return (x - self.P @ x).square().sum().sqrt()

    def dirichlet_energy(self, x):
        return torch.trace(x.T @ self.L @ x)

    def normalized_dirichlet_energy(self, x):
        return self.dirichlet_energy(x) / x.square().sum()

    def normalized_smoothness(self, x):
        return ((self.P @ x).square().sum(0) / x.square().sum(0)).sqrt()
