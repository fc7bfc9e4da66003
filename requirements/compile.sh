#!/bin/sh
# Writes the lock files beside this script from pyproject.toml: hashes, no addresses, one file for Python 3.11 to 3.13.
# Needs uv. Run it after a change of dependencies and commit what it wrote.
set -eu
cd "$(dirname "$0")/.."
lock() {
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
        --no-header --no-annotate "$@"
}
lock pyproject.toml --group build --output-file requirements/cpu.txt
lock --group test --constraint requirements/cpu.txt --output-file requirements/test.txt
# The GPU wheel stands in for the CPU wheel; everything else keeps its version.
gpu=$(mktemp -d)
trap 'rm -rf "$gpu"' EXIT
sed 's/"tensorflow-cpu==/"tensorflow[and-cuda]==/' pyproject.toml >"$gpu/pyproject.toml"
root=$PWD
(cd "$gpu" && lock pyproject.toml --group build --constraint "$root/requirements/cpu.txt" --output-file "$root/requirements/gpu.txt")
