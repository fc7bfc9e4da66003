"""`partitions`: boxes for devices, arrows for transfers."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from view_svg_checks import (
    Box,
    check_arrows,
    check_page,
    check_pixels,
    edges,
    groups,
    node_boxes,
    parse,
    shape_box,
    texts,
)

from tflabs.view import partitions


def frames(root) -> dict[str, Box]:
    return {g.get("data-name"): shape_box(g[0], dx, dy) for g, dx, dy in groups(root, "frame")}


@pytest.fixture(params=["two_devices", "three_devices"])
def step(request):
    return request.getfixturevalue(request.param)


def test_each_node_stands_in_the_box_of_its_device(step):
    picture = partitions(step.metadata, title="Partitions")
    check_page(picture)
    check_arrows(picture)
    root = parse(picture)
    boxes, devices = node_boxes(root), frames(root)
    nodes = [node for part in step.metadata.partition_graphs for node in part.node]
    assert boxes.keys() == {node.name for node in nodes}
    for node in nodes:
        assert boxes[node.name].inside(devices[node.device])
    ordered = [devices[name] for name in sorted(devices)]
    assert all(a.right < b.left and a.top == b.top for a, b in pairwise(ordered))


def test_transfers_join_send_and_recv_of_one_key(step):
    picture = partitions(step.metadata)
    root = parse(picture)
    nodes = {node.name: node for part in step.metadata.partition_graphs for node in part.node}
    drawn = [(nodes[e["data-tail"]], nodes[e["data-head"]]) for e in edges(root) if e["data-kind"] == "transfer"]
    assert len(drawn) == sum(node.op == "_Send" for node in nodes.values()) > 0
    words = {words for words, _ in texts(root)}
    for send, recv in drawn:
        assert (send.op, recv.op) == ("_Send", "_Recv")
        assert send.attr["tensor_name"].s == recv.attr["tensor_name"].s
        assert send.attr["tensor_name"].s.decode() in words
    assert f"{len(drawn)} transfers: " in picture.alt


def test_what_a_node_waits_for_stands_above_it(step):
    root = parse(partitions(step.metadata))
    boxes = node_boxes(root)
    for edge in edges(root):
        assert boxes[edge["data-tail"]].bottom < boxes[edge["data-head"]].top


def test_transfers_cross_no_card(step):
    root = parse(partitions(step.metadata))
    boxes = node_boxes(root)
    for g, dx, dy in groups(root, "arc"):
        if g.get("data-kind") != "transfer":
            continue
        d = g[0].get("d")
        corners = [(float(a) + dx, float(b) + dy) for a, b in re.findall(r"(-?[\d.]+) (-?[\d.]+)", d)]
        for (x0, y0), (x1, y1) in pairwise(corners):
            line = Box(min(x0, x1), min(y0, y1), max(x0, x1) + 0.1, max(y0, y1) + 0.1)
            for name, box in boxes.items():
                if name not in (g.get("data-tail"), g.get("data-head")):
                    assert not line.overlaps(box, 0), f"the transfer from {g.get('data-tail')} crosses {name}"


def test_a_dict_gives_the_same_picture(step):
    graphs = {part.node[0].device: part for part in step.metadata.partition_graphs}
    assert partitions(graphs).svg == partitions(step.metadata).svg


def test_labels_and_repeated_names(tf, two_devices):
    graphs = {}
    for device in ("/device:CPU:0", "/device:CPU:1"):
        graphs[device] = tf.compat.v1.GraphDef()
        graphs[device].node.add(name="same", op="NoOp", device=device)
    picture = partitions(graphs, labels={"same": "a label"})
    check_page(picture)
    assert [words for words, _ in texts(parse(picture))].count("a label") == 2
    assert [words for words, _ in texts(parse(picture))].count("same") == 2


def test_a_recv_without_its_send_is_drawn_without_a_transfer(tf, two_devices):
    part = two_devices.metadata.partition_graphs[0]
    picture = partitions({"only": part})
    check_page(picture)
    assert not [e for e in edges(parse(picture)) if e["data-kind"] == "transfer"]
    assert "0 transfers" in picture.alt


def test_cycles_between_devices(tf):
    """A loop that is cut: each device sends to the other."""
    graphs = {}
    for here, there in (("0", "1"), ("1", "0")):
        g = graphs[f"/device:CPU:{here}"] = tf.compat.v1.GraphDef()
        recv = g.node.add(name=f"recv_{here}", op="_Recv")
        send = g.node.add(name=f"send_{here}", op="_Send", input=[f"recv_{here}"])
        for node, a, b in ((recv, there, here), (send, here, there)):
            node.attr["tensor_name"].s = f"edge_{a}".encode()
            node.attr["send_device"].s = a.encode()
            node.attr["recv_device"].s = b.encode()
    picture = partitions(graphs)
    check_page(picture)
    check_arrows(picture)
    assert "2 transfers" in picture.alt


def test_large_partitions_are_grouped(tf, layers):
    picture = partitions({"/device:CPU:0": layers.as_graph_def()})
    check_page(picture)
    check_arrows(picture)
    assert len(node_boxes(parse(picture))) <= 40


def test_errors_say_what_is_wanted(tf):
    with pytest.raises(ValueError, match="output_partition_graphs=True"):
        partitions(tf.compat.v1.RunMetadata())
    with pytest.raises(TypeError, match="RunMetadata"):
        partitions([1])


def test_pixels(step):
    check_pixels(partitions(step.metadata, title="Partitions"))
