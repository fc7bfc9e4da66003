"""Which test cells are run where."""

from __future__ import annotations

import io
import re
import tokenize

_SAME_PROCESS = re.compile(r"#\s*examiner:\s*same process\b\s*[–—:-]?\s*(?P<reason>.*)$")


def judged_in_kernel(source: str) -> bool:
    """Whether a test cell must run in the learner's kernel: a comment line says `# examiner: same process – REASON`."""
    return reason_for_kernel(source) is not None


def reason_for_kernel(source: str) -> str | None:
    """The reason in that comment (maybe empty), None if there is no such comment. Text in a string is no comment."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            alone = token.type == tokenize.COMMENT and token.line.lstrip().startswith("#")
            if alone and (match := _SAME_PROCESS.match(token.string)):
                return match["reason"].strip()
    except (tokenize.TokenError, SyntaxError):
        pass
    return None
