"""Stock Jupyter starts its kernels in boxes where a kernelspec names the provisioner."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import toy

STOCK = """
import nbformat
from nbclient import NotebookClient
nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in [
    "import os; print(os.getcwd(), os.path.exists({secret!r}), os.environ.get('TOKEN'))",
    "get_ipython().kernel.do_shutdown(restart=True); os._exit(0)",
]])
try: NotebookClient(nb, kernel_name="boxed", timeout=60).execute()
except Exception as error: print(type(error).__name__)
print(nb.cells[0].outputs[0].text)
"""


def test_nbclient_runs_a_notebook_in_a_box(tmp_path: Path) -> None:
    project = tomllib.loads((toy.ROOT / "pyproject.toml").read_text())["project"]
    group = "jupyter_client.kernel_provisioners"
    lines = [f"[{group}]", *(f"{name} = {where}" for name, where in project["entry-points"][group].items())]
    (installed := tmp_path / "site" / "boxtest-1.0.dist-info").mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: boxtest\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("\n".join(lines))
    (spec := tmp_path / "jupyter" / "kernels" / "boxed").mkdir(parents=True)
    metadata = {"kernel_provisioner": {"provisioner_name": "tflabs-box", "config": {}}}
    described = {"argv": ["python"], "display_name": "boxed", "language": "python", "metadata": metadata}
    (spec / "kernel.json").write_text(json.dumps(described))
    (secret := tmp_path / "gradebook.db").write_text("secret")
    environment = os.environ | {
        "JUPYTER_PATH": str(tmp_path / "jupyter"),
        "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]),
        "TOKEN": "secret",
    }
    command = [sys.executable, "-c", STOCK.replace("{secret!r}", repr(str(secret)))]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["DeadKernelError", "/sandbox/work", "False", "None"], done.stderr[-2000:]
