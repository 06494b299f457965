"""The same quantities by full dense linear algebra, with nothing taken from the package.

``Dense`` is built from the edges of a case, never from a ``Graph``. Its eigenspace comes from a
full ``eigh``, so agreement with the square roots of the degrees is a finding, not an assumption.
"""

import numpy as np
import torch


class Exact:
    """Long graphs without a dense matrix, in extended precision and from their edges alone.

    Args:
        edges: each undirected edge once; shape: ``(2, num_edges)``
        component: of each node, in ascending order; shape: ``(n,)``
    """

    def __init__(self, edges, component):
        self.edges, self.component = edges, component
        self.degree = 1 + np.bincount(edges.reshape(-1), minlength=len(component))
        self.first = np.unique(component, return_index=True)[1]
        root = np.sqrt(self.degree.astype(np.longdouble))
        volume = np.add.reduceat(root**2, self.first)
        self.basis = (root / np.sqrt(volume)[component])[:, None]

    def rough(self, x):
        x = np.asarray(x, np.longdouble)
        return x - self.basis * np.add.reduceat(self.basis * x, self.first)[self.component]

    def distance_to_eigenspace(self, x):
        return np.sqrt(np.square(self.rough(x)).sum())

    def normalized_smoothness(self, x):
        x = np.asarray(x, np.longdouble)
        return np.sqrt(1 - np.square(self.rough(x)).sum(0) / np.square(x).sum(0))

    def dirichlet_energy(self, x):
        i, j = self.edges
        scaled = np.asarray(x, np.longdouble) / np.sqrt(self.degree)[:, None]
        return np.square(scaled[i] - scaled[j]).sum()

    def over_correlation(self, x):
        rho = np.abs(np.corrcoef(np.asarray(x, np.longdouble).T))
        return (rho.sum() - np.trace(rho)) / (len(rho) * (len(rho) - 1))

    def effective_rank(self, x):
        sigma = np.linalg.svd(np.asarray(x, np.float64), compute_uv=False)
        share = sigma[sigma > 0] / sigma.sum()
        return np.exp(-(share * np.log(share)).sum())

    def numerical_rank(self, x):
        sigma = np.linalg.svd(np.asarray(x, np.float64), compute_uv=False)
        return np.square(sigma / sigma[0]).sum()


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

    def laplacian(self, name):
        """The matrix of an energy; that of the random walk has its symmetric weights."""
        step = self.adjacency / self.degree[:, None]
        weight = {"combinatorial": self.adjacency, "random_walk": (step + step.T) / 2}
        return self.L if name == "symmetric" else weight[name].sum(1).diag() - weight[name]

    def dirichlet_energy(self, x, laplacian="symmetric"):
        return torch.trace(x.T @ self.laplacian(laplacian) @ x)

    def rayleigh_quotient(self, x, laplacian="symmetric"):
        return (x.T @ self.laplacian(laplacian) @ x).diag() / x.square().sum(0)

    def mean_average_distance(self, x):
        cosine = torch.nn.functional.cosine_similarity(x[:, None], x[None], dim=2)
        edges = (self.adjacency > 0) & ~torch.eye(len(x), dtype=torch.bool)
        rows = [(1 - cosine[i])[edges[i]].mean() for i in range(len(x)) if edges[i].any()]
        return torch.stack(rows).mean() if rows else 0 * x.sum()

    def effective_rank(self, x):
        share = torch.linalg.svdvals(x) / torch.linalg.svdvals(x).sum()
        return (-share * share.log()).sum().exp()

    def numerical_rank(self, x):
        return x.square().sum() / torch.linalg.eigvalsh(x @ x.T)[-1]

    def over_correlation(self, x):
        if len(x) == 1:
            return 0 * x.sum()
        return torch.corrcoef(x.T).abs()[~torch.eye(x.shape[1], dtype=torch.bool)].mean()

    def instance_information_gain(self, x):
        unit = x / x.norm(dim=1, keepdim=True)
        kernel = (-(unit[:, None] - unit[None]).square().sum(2) / 0.8).exp()
        return -kernel.mean(1).log2().mean()

    def normalized_dirichlet_energy(self, x):
        return self.dirichlet_energy(x) / x.square().sum()

    def normalized_smoothness(self, x):
        return ((self.P @ x).square().sum(0) / x.square().sum(0)).sqrt()
