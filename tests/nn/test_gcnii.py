from models import check_equations

from graphsct.nn import GCNII


def test_layers_are_those_of_the_equations(graph, dense, x):
    def convolve(conv, beta, h, h_0):
        z = 0.9 * dense.G @ h + 0.1 * h_0
        return (1 - beta) * z + beta * z @ conv.weight1

    check_equations(GCNII, convolve, graph, dense, x)
