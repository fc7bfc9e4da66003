"""nbclient's client, which keeps of a cell's output no more than its limit."""

from __future__ import annotations

from collections import Counter
from typing import Any

from nbclient import NotebookClient

MOST_SHOWN = 4 << 20  # characters of a cell's pictures, tables and value together


class CappedClient(NotebookClient):
    """Drops output as it arrives, once there was too much of it: nobody's memory or patience is at a cell's mercy.

    Streams are not coalesced: nbclient searches them for carriage returns in time quadratic in the longest line.
    """

    def __init__(self, *args: Any, most_text: int, **options: Any) -> None:
        super().__init__(*args, coalesce_streams=False, store_widget_state=False, **options)
        self._most_text = most_text
        self.asked_to_end = False  # whether the last cell called `quit()`: the kernel ends a moment later
        self.on_cell_executed = self._executed
        self._kept: Counter[str] = Counter()  # characters, by kind of output

    def begin_cell(self) -> None:
        """The next output is another cell's."""
        self._kept.clear()

    def _executed(self, execute_reply: Any, **_: Any) -> None:
        payload = execute_reply["content"].get("payload", [])
        self.asked_to_end = any(each.get("source") == "ask_exit" for each in payload)

    def process_message(self, msg: Any, cell: Any, cell_index: int) -> Any:
        content, kind = msg["content"], msg["msg_type"]
        if kind == "stream":
            name, text = str(content.get("name")), str(content.get("text"))
            rest = self._most_text + 1 - self._kept[name]  # one more than is kept, so that the cut is seen
            if rest <= 0:
                return None
            self._kept[name] += len(text)
            content["text"] = text[:rest]
        elif kind in ("display_data", "update_display_data", "execute_result"):
            self._kept[kind] += len(str(content))
            if self._kept.total() > MOST_SHOWN + 2 * self._most_text:
                return None
        return super().process_message(msg, cell, cell_index)
