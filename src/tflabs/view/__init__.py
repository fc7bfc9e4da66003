"""Pictures of TensorFlow's graphs, partitions, traces and compiled programs, for notebooks.

Every function takes TensorFlow's own objects and returns a `Picture`, or an ipywidget for players.
"""

from .boundary import Band, NativeFrame, boundary, call_stack, native_stack
from .byte_ruler import byte_ruler
from .cache_walk import Matrix, cache_walk_player
from .compiler_player import compiler_player
from .descent import Bowl, Walk, descent, descent_player
from .dispatch import dispatch
from .gradient_pairs import gradient_pairs
from .graph import graph
from .graph_text import graph_text
from .hlo import hlo
from .lifetimes import CCall, lifetimes, lifetimes_player
from .live_ranges import LiveRange, live_ranges
from .lowering import Lowered, kernels, lowering, lowering_stage
from .memory import memory_map, memory_strip
from .memory_player import memory_player
from .partitions import partitions
from .picture import Picture
from .pipeline_strip import Issue, pipeline_player, pipeline_strip
from .placement import placement, placement_player
from .placer import Group, Placed, ask_placer
from .protocol import Call, protocol
from .queue_levels import interleaving, queue_levels
from .queue_player import queue_player
from .ready_queue import Turn, makespans, ready_queue, schedule_player
from .register_machine import MachineState, machine_player, machine_state
from .resume import Attempt, attempts, resume_player
from .session_cache import session_cache
from .session_chain import session_chain
from .spread import spread
from .stages import stages, stages_player
from .staleness import Exchange, loss_curves, space_time, staleness_histogram, staleness_player
from .step_player import step_player
from .stepper import Step, stepper
from .syntax_tree import syntax_tree
from .timeline import timeline
from .two_sessions import two_sessions
from .variable_race import variable_race
from .workflow import Span, activity, input_player, record_fields, step_activity

__all__ = [
    "Attempt",
    "Band",
    "Bowl",
    "CCall",
    "Call",
    "Exchange",
    "Group",
    "Issue",
    "LiveRange",
    "Lowered",
    "MachineState",
    "Matrix",
    "NativeFrame",
    "Picture",
    "Placed",
    "Span",
    "Step",
    "Turn",
    "Walk",
    "activity",
    "ask_placer",
    "attempts",
    "boundary",
    "byte_ruler",
    "cache_walk_player",
    "call_stack",
    "compiler_player",
    "descent",
    "descent_player",
    "dispatch",
    "gradient_pairs",
    "graph",
    "graph_text",
    "hlo",
    "input_player",
    "interleaving",
    "kernels",
    "lifetimes",
    "lifetimes_player",
    "live_ranges",
    "loss_curves",
    "lowering",
    "lowering_stage",
    "machine_player",
    "machine_state",
    "makespans",
    "memory_map",
    "memory_player",
    "memory_strip",
    "native_stack",
    "partitions",
    "pipeline_player",
    "pipeline_strip",
    "placement",
    "placement_player",
    "protocol",
    "queue_levels",
    "queue_player",
    "ready_queue",
    "record_fields",
    "resume_player",
    "schedule_player",
    "session_cache",
    "session_chain",
    "space_time",
    "spread",
    "stages",
    "stages_player",
    "staleness_histogram",
    "staleness_player",
    "step_activity",
    "step_player",
    "stepper",
    "syntax_tree",
    "timeline",
    "two_sessions",
    "variable_race",
]
