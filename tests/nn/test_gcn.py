from models import check_equations

from graphsct.nn import GCN


def test_layers_are_those_of_the_equations(graph, dense, x):
    def convolve(conv, beta, h, h_0):
        return dense.G @ h @ conv.lin.weight.T

    check_equations(GCN, convolve, graph, dense, x)
