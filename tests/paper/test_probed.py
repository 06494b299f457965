import json

import pytest

from graphsct.errors import TrainingError
from graphsct.extras import stored_results
from graphsct.paper.probed import INSTEAD, NETWORKS, Accuracies, LayerTerm, Probed

STORED = json.loads((stored_results("paper") / "terms" / "cora-gcnii-gated-2.json").read_text())
RUN = {key: STORED["runs"][0][key] for key in ("accuracy", "changed", "layers")}


def test_it_is_read_and_written_as_it_is_stored():
    probed = Probed.from_dict(RUN)
    assert probed.to_dict() == RUN
    assert [layer.layer for layer in probed.layers] == [1, 2]
    assert probed.accuracy.with_term == RUN["accuracy"]["with_term"]


def test_every_variant_and_every_network_has_its_field():
    assert ("with_term", *INSTEAD) == Accuracies._fields
    assert set(NETWORKS) <= set(LayerTerm.__dataclass_fields__)


def test_a_wrong_key_is_named():
    with pytest.raises(TrainingError, match="there is no value 'acuracy', did you mean 'accuracy'"):
        Probed.from_dict({**RUN, "acuracy": 1})
