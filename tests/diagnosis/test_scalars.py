import faulty
import pytest

from graphsct import diagnose
from graphsct.diagnosis.scalars import dimension_columns, layer_columns, scalars

pytestmark = pytest.mark.usefixtures("seed")


@pytest.fixture(scope="module")
def found(data):
    return diagnose(faulty.dead(), data)


def test_one_row_per_layer_without_lists(found):
    columns = layer_columns(found)
    assert columns["layer"] == [1, 2, 3, 4, 5, 6]
    assert columns["dead"] == [0, 0, 16, 16, 16, 16]
    assert columns["state"] == list(found.states)
    middles = [layer.quartiles and layer.quartiles[1] for layer in found.layers]
    assert columns["smoothness"] == middles
    assert not [v for values in columns.values() for v in values if isinstance(v, list | tuple)]


def test_one_row_per_dimension(found):
    columns = dimension_columns(found)
    assert columns["layer"] == [number for number in range(1, 7) for _ in range(16)]
    assert columns["smoothness"][:16] == list(found.layers[0].smoothness)
    assert sum(columns["dead"]) == 4 * 16


def test_scalars_are_numbers_by_measure_and_layer(found):
    numbers = scalars(found)
    assert {type(value) for value in numbers.values()} == {float}
    assert numbers["healthy"] == 0
    assert numbers["entry_gradient"] == found.entry.gradient_norm
    for number, layer in enumerate(found.layers, 1):
        name = f"0{number} convs.{number - 1}"
        assert numbers[f"effective_rank/{name}"] == layer.effective_rank
        assert numbers[f"gradient_norm/{name}"] == layer.gradient_norm
        assert numbers[f"dead/{name}"] == len(layer.dead)
        assert (f"smoothness/{name}" in numbers) == (number <= 2)
