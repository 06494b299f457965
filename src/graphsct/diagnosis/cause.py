"""The cause of a model's failure, as experiments showed it."""

from __future__ import annotations

from dataclasses import dataclass

from graphsct.records import Record

__all__ = ["CAUSES", "Cause", "Intervention", "conclude"]

#: The causes by name, with what the experiments showed.
CAUSES = {
    "training": "The same model learns when it is trained again from new weights. So the old "
    "weights are at fault: training was too short, or went astray.",
    "over-smoothing": "Without edges the same network learns; with them neither another start nor "
    "rescaled features help. So propagation wears away the differences between nodes.",
    "weak signal": "With the same edges the network learns once its weights start at the identity "
    "or at a scale that keeps the size of the features. So features and gradients fade on their "
    "way through the layers; over-smoothing is not the cause.",
    "both": "The network learns without edges, and also with them if its signal is kept up. So "
    "propagation and a weak signal stop it together, and a remedy for either may do.",
    "depth": "The network learns only with fewer layers. Neither the edges nor the size of the "
    "features stop it by themselves.",
    "unknown": "None of the experiments made the network learn.",
}


@dataclass(frozen=True)
class Intervention(Record):
    """A short training of a changed model.

    Args:
        name: the change
        skill: skill on the training nodes, from 0 for guessing to 1 for no error
    """

    name: str
    skill: float


@dataclass(frozen=True)
class Cause(Record, keys=("name", "text", "epochs", "experiments")):
    """The cause of a failure.

    Args:
        name: a name in ``CAUSES``
        epochs: length of each experiment
        experiments: of the model with new weights, then also with each change
    """

    name: str
    epochs: int
    experiments: tuple[Intervention, ...]

    @property
    def text(self) -> str:
        """What the experiments showed."""
        return CAUSES[self.name]


def conclude(skills: dict[str, float]) -> str:
    """The cause that the skills of the experiments point to.

    A change helps if it closes at least half of the gap from the model started anew to no error.

    Args:
        skills: by the names of the experiments, of which ``started anew`` is one

    Example:
        >>> conclude({"started anew": 0.1, "no edges": 0.1, "identity start": 0.9})
        'weak signal'
    """
    first = skills["started anew"]
    if first >= 0.75:
        return "training"
    enough = first + 0.5 * (1 - first)
    helps = {name for name, skill in skills.items() if skill >= enough}
    edges, signal = "no edges" in helps, bool(helps & {"identity start", "kept size"})
    if edges or signal:
        return "both" if edges and signal else "over-smoothing" if edges else "weak signal"
    return "depth" if "fewer layers" in helps else "unknown"
