"""One call of a `tf.function`, as the runtime recorded it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tflabs.runtime.sessions import graphs_by_device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tensorflow.compat.v1 import RunMetadata
    from tensorflow.core.framework.graph_pb2 import GraphDef


@dataclass(frozen=True)
class CallTrace:
    """One traced call.

    Attributes:
        value: what the function returned.
        metadata: the call's `RunMetadata`, with the graphs below in `function_graphs[0]`; without `step_stats`.
        before: the function's graph as the runtime got it, before Grappler.
        after: the same graph after Grappler, before it was partitioned.
        partitions: the graph that each device ran, by device name.
    """

    value: Any
    metadata: RunMetadata
    before: GraphDef
    after: GraphDef
    partitions: dict[str, GraphDef]


def trace_call(function: Callable[..., Any], *args: Any) -> CallTrace:
    """Calls a `tf.function` with the collection of its graphs on, and off again afterwards.

    What is collected is the `RunMetadata` that `context.enable_run_metadata()` collects too; but in TensorFlow 2.21
    `disable_run_metadata()` leaves the collection on, and `disable_graph_collection()` ends it.

    The runtime records a function's graphs when it instantiates the function, and keeps the instantiated kernel for
    later calls (`EagerContext::GetCachedKernel`). The cache is emptied first, so that the trace of a function that ran
    before is complete; the price is that all cached kernels of the process are made anew, with fresh state.

    Raises:
        ValueError: the call did not run exactly one function graph. A `jit_compile` function has none (XLA runs it);
            a Python function that runs several ops or functions has one for each.
    """
    from tensorflow.python.eager import context

    if hasattr(function, "get_concrete_function"):
        function.get_concrete_function(*args)  # a first call would also run the initialisers of new variables
    with _collecting():
        value = function(*args)
        metadata = context.export_run_metadata()
    count = len(metadata.function_graphs)
    if count != 1:
        raise ValueError(f"the call ran {count} function graphs; trace_call wants one (a tf.function, not jit_compile)")
    graphs = metadata.function_graphs[0]
    return CallTrace(
        value,
        metadata,
        graphs.pre_optimization_graph,
        graphs.post_optimization_graph,
        graphs_by_device(graphs.partition_graphs),
    )


@contextmanager
def _collecting() -> Iterator[None]:
    """The eager context collects the graphs of the functions that it instantiates, from empty; off afterwards."""
    from tensorflow.python.eager import context

    context.enable_graph_collection()
    try:
        _drop_collected()
        context.context().clear_kernel_cache()
        yield
    except BaseException:
        _drop_collected()
        raise
    finally:
        context.disable_graph_collection()


def _drop_collected() -> None:
    """Empties the context's `RunMetadata`, and before it the `GraphCollector`.

    A call that fails leaves its graphs in the collector; they would be merged into those of the next call. The end of
    any op that does not fail moves them on to the metadata.
    """
    import tensorflow as tf
    from tensorflow.python.eager import context

    tf.identity(tf.zeros([]))
    context.export_run_metadata()
