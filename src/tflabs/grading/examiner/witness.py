"""In the learner's kernel, from before its first cell: a thread that runs what the examiner sends, past everything.

A test that must run in the learner's process needs a root of trust there. The thread holds what it needs in local
variables: functions that C defines, Python's builtins as they were, and a key with which it signs its answers. Nothing
that a cell assigns changes what it does. To forge an answer the key must be read out of the thread's frame or of the
process's memory.
"""

from __future__ import annotations

import _thread
import builtins
import marshal
import sys
from _hashlib import openssl_sha256 as sha256
from typing import Any

from tflabs.grading.examiner import agent, codec
from tflabs.grading.examiner.channel import Channel
from tflabs.runtime import codeswap, withholding

MEASURED = (agent, codec, codeswap, withholding)  # imported here, before anything could be put in their place


def plant(path: str, namespace: dict[str, Any]) -> None:
    """Start the witness. Called once for each kernel and examiner, before any code of the learner's runs."""
    connection = agent.connected(path)
    Channel(connection).send(codec.dumps(["witness", 0]))
    connection.setblocking(True)
    python = dict(vars(builtins))
    scope = {"sys": sys, "sha256": sha256, "given": {}, "namespace": namespace, "outcomes": {}, "python": python}
    functions = (connection.recv, connection.sendall, marshal.loads, exec, sha256, int.from_bytes, BaseException)
    _thread.start_new_thread(_witness, (*functions, scope))


def _witness(recv: Any, send: Any, loads: Any, run: Any, sha: Any, number: Any, failure: Any, scope: Any) -> None:
    """Run each program and sign its answer with the key and the count of answers.

    No global name is read here, none of Python's either: cells can assign them.
    """
    key, count = recv(36)[4:], 0  # with its length in front, as every message
    while head := recv(4):
        size, body = number(head, "little"), b""
        while body.__len__() < size:
            body += recv(size - body.__len__())
        try:
            code, arguments = loads(body)
            own = {**scope, "__builtins__": {**scope["python"]}, "arguments": arguments}
            run(code, own)
            answer = own["answer"].encode("utf-8", "backslashreplace")
        except failure as error:
            answer = f"!{error!r}".encode("utf-8", "backslashreplace")
        count += 1
        signature = sha(key + count.to_bytes(8, "little") + answer + key).digest()
        send((32 + answer.__len__()).to_bytes(4, "little") + signature + answer)
