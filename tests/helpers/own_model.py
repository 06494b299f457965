"""A model as a user would write it: one file, and nothing else to touch."""

from graphsct.nn import GCNConv, Model, register


@register
class HopNetwork(Model):
    """Propagates several times before each convolution; it has no control."""

    name, title, default_control = "hops", "Hop network", "pooled"
    known_settings = ({"hops": 3, "hidden": 32, "dropout": 0.5},)

    def __init__(
        self, in_channels, hidden_channels, out_channels, num_layers, *, hops=1, dropout=0.0
    ):
        convs = [GCNConv(hidden_channels, hidden_channels) for _ in range(num_layers)]
        options = dict(activation="relu", dropout=dropout, conv_dropout=0.0, norm=None)
        super().__init__(in_channels, hidden_channels, out_channels, convs, **options)
        self.hops = hops

    @classmethod
    def search_space(cls, control):
        return {"hops": (1, 2, 3)}

    def convolve(self, conv, x, x_0, graph, pooled_0):
        for _ in range(self.hops - 1):
            x = graph.propagate(x)
        return conv(x, graph)
