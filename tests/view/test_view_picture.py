"""`Picture`: what notebooks get, and that equal input gives equal bytes."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys

from tflabs.view import Picture, graph, hlo, partitions, timeline
from tflabs.view.picture import assemble
from tflabs.view.text import text_width, wrap

# The messages without the rest of TensorFlow: importing it would take most of the test's time.
PROGRAM = """
import hashlib, importlib.util, json, sys, types

package = types.ModuleType("tensorflow")
package.__path__ = importlib.util.find_spec("tensorflow").submodule_search_locations
sys.modules["tensorflow"] = package
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import config_pb2
from tflabs.view import graph, hlo, partitions, timeline

given = json.load(sys.stdin)
proto = graph_pb2.GraphDef.FromString(bytes.fromhex(given["layers"]))
metadata = config_pb2.RunMetadata.FromString(bytes.fromhex(given["metadata"]))
pictures = [
    graph(proto, highlight={"dense_7/MatMul": "one", "dense_3/MatMul": "two"}),
    partitions(metadata), timeline(metadata), hlo(given["before"], given["after"]), graph(given["dot"]),
]
print(json.dumps([hashlib.sha256(p.svg.encode()).hexdigest() for p in pictures]))
"""


def test_equal_input_gives_equal_bytes_in_any_process(layers, three_devices, programs):
    metadata = three_devices.metadata
    text = programs["softmax"]

    def draw():
        return [
            graph(layers.as_graph_def(), highlight={"dense_7/MatMul": "one", "dense_3/MatMul": "two"}),
            partitions(metadata),
            timeline(metadata),
            hlo(text["hlo"], text["optimized_hlo"]),
            graph(text["optimized_hlo_dot"]),
        ]

    hashes = [hashlib.sha256(p.svg.encode()).hexdigest() for p in draw()]
    assert hashes == [hashlib.sha256(p.svg.encode()).hexdigest() for p in draw()]
    given = {
        "layers": layers.as_graph_def().SerializeToString(deterministic=True).hex(),
        "metadata": metadata.SerializeToString(deterministic=True).hex(),
        "before": text["hlo"],
        "after": text["optimized_hlo"],
        "dot": text["optimized_hlo_dot"],
    }
    environment = os.environ | {"PYTHONHASHSEED": "4321", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert json.loads(done.stdout) == hashes


def test_notebooks_get_the_picture_at_its_natural_size():
    bundle = assemble("", 601, 20, 'a "title"', 'say "x" & <y>')._repr_mimebundle_()
    assert bundle.keys() == {"image/svg+xml", "text/html", "text/plain"}
    assert bundle["text/plain"] == 'say "x" & <y>'
    html = bundle["text/html"]
    assert "overflow-x: auto" in html and "max-width: none; width: 601px; height: 20px" in html
    assert 'alt="say &quot;x&quot; &amp; &lt;y&gt;"' in html
    data = re.search(r"base64,([^\"]+)", html)[1]
    assert base64.b64decode(data).decode() == bundle["image/svg+xml"]


def test_two_pictures_do_not_share_an_id():
    a, b = assemble('<rect class="card"/>', 1, 1, "t", "a"), assemble('<rect class="card"/>', 1, 1, "t", "b")
    ids = [re.search(r' id="(\w+)"', p.svg)[1] for p in (a, b)]
    assert ids[0] != ids[1] and re.fullmatch(r"[a-z]\w+", ids[0])
    assert f"#{ids[0]} .card" in a.svg


def test_save(tmp_path):
    picture = Picture("<svg>µ</svg>", "words")
    assert repr(picture) == "Picture(alt='words')"
    picture.save(tmp_path / "p.svg")
    assert (tmp_path / "p.svg").read_bytes() == "<svg>µ</svg>".encode()


def test_nbconvert_shows_it():
    import nbformat
    from nbconvert import HTMLExporter

    picture = assemble('<rect class="card" width="9" height="9"/>', 300, 20, "t", "words")
    output = nbformat.v4.new_output("display_data", data=picture._repr_mimebundle_())
    cell = nbformat.v4.new_code_cell("picture", outputs=[output])
    body, _ = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    assert base64.b64encode(picture.svg.encode()).decode()[:200] in body.replace("\n", "")


def test_importing_view_does_not_import_tensorflow():
    code = "import sys, tflabs.view; sys.exit('tensorflow' in sys.modules or 'ipywidgets' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_widths_bound_real_fonts():
    """Against the advance widths that a rasteriser's own font has: DejaVu Sans where it is installed."""
    assert text_width("MatMul", 10) == 10 * (863 + 613 + 392 + 863 + 634 + 278) / 1000
    assert text_width("日本", 10) > 20
    assert text_width("abc", 10, bold=True) > text_width("abc", 10)


def test_wrapping_keeps_every_character():
    for text in ("training/Adam/gradients/mul_grad/Reshape_1", "x" * 300, "ResourceApplyAdam" * 9, "", "/", "a/" * 80):
        lines = wrap(text, 120, 13, True)
        assert "".join(lines) == text
        assert all(text_width(line, 13, True) <= 120 for line in lines)
