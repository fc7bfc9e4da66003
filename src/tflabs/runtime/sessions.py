"""One step of a `tf.compat.v1.Session`, as the runtime recorded it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tensorflow.compat.v1 import ConfigProto, RunMetadata, Session
    from tensorflow.core.framework.graph_pb2 import GraphDef


def plain_config(cpus: int = 1) -> ConfigProto:
    """Session configuration with `cpus` CPU devices under which the graph that runs is the graph that was written.

    Grappler is off (`rewrite_options.disable_meta_optimizer`) and so are the optimisations that the session itself
    makes before it partitions (`optimizer_options.opt_level` L0 = -1: no constant folding, no common subexpressions).
    """
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto(device_count={"CPU": cpus})
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = tf.compat.v1.OptimizerOptions.L0
    return config


def graphs_by_device(graphs: Iterable[GraphDef]) -> dict[str, GraphDef]:
    """Partition graphs by the device of their nodes; a partition has one device, so that of any placed node.

    Raises:
        ValueError: two graphs are for the same device, so that a dictionary would lose one.
    """
    by_device: dict[str, GraphDef] = {}
    for graph in graphs:
        device = next((node.device for node in graph.node if node.device), "")
        if device in by_device:
            raise ValueError(f"two partitions are on {device or 'no device'}")
        by_device[device] = graph
    return by_device


@dataclass(frozen=True)
class RunTrace:
    """One traced step.

    Attributes:
        values: what `Session.run` returned for the fetches.
        metadata: the step's `RunMetadata`: `step_stats` (times in µs) and `partition_graphs`.
    """

    values: Any
    metadata: RunMetadata

    @property
    def partitions(self) -> dict[str, GraphDef]:
        """The graph that each device ran, by device name."""
        return graphs_by_device(self.metadata.partition_graphs)

    def nodes(self) -> list[str]:
        """Sorted names of the nodes that ran, on all devices; a node that ran several times is named once."""
        return sorted({stats.node_name for device in self.metadata.step_stats.dev_stats for stats in device.node_stats})


def trace_run(session: Session, fetches: Any, feed_dict: Mapping[Any, Any] | None = None) -> RunTrace:
    """Runs one step with a full trace and the partition graphs recorded; arguments as for `Session.run`."""
    import tensorflow as tf

    options = tf.compat.v1.RunOptions(
        trace_level=tf.compat.v1.RunOptions.FULL_TRACE,
        output_partition_graphs=True,
    )
    metadata = tf.compat.v1.RunMetadata()
    values = session.run(fetches, feed_dict=feed_dict, options=options, run_metadata=metadata)
    return RunTrace(values, metadata)
