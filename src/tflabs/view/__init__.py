"""Pictures of TensorFlow's graphs, partitions, traces and compiled programs, for notebooks.

Every function takes TensorFlow's own objects and returns a `Picture`, or an ipywidget for players.
"""

from .dispatch import dispatch
from .graph import graph
from .hlo import hlo
from .lowering import Lowered, kernels, lowering, lowering_stage
from .partitions import partitions
from .picture import Picture
from .session_cache import session_cache
from .stepper import Step, stepper
from .timeline import timeline

__all__ = [
    "Lowered",
    "Picture",
    "Step",
    "dispatch",
    "graph",
    "hlo",
    "kernels",
    "lowering",
    "lowering_stage",
    "partitions",
    "session_cache",
    "stepper",
    "timeline",
]
