"""`compiler_player`: type a program and look at each of the forms that a compiler turns it into."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .controls import telling_line
from .draw import escape
from .picture import Picture

Form = Picture | str


def compiler_player(forms: Callable[[str], Mapping[str, Form]], texts: Sequence[str]) -> Any:
    """A player: a text, the forms that it goes through, and what it is in the chosen one.

    Args:
        forms: name -> picture or text, in the order of the compiler. The names are the same for every text. What it
            raises is shown in place of the form.
        texts: examples to choose from; the first one is shown.

    Returns:
        An ipywidget.

    Raises:
        ValueError: there are no examples, or the first has no forms.
    """
    import ipywidgets as widgets

    names = list(forms(texts[0])) if texts else []
    if not names:
        raise ValueError("a player needs a text that has forms")
    typed = widgets.Combobox(
        value=texts[0], options=list(texts), description="text", continuous_update=False, ensure_option=False,
        layout=widgets.Layout(width="520px"),
    )  # fmt: skip
    chosen = widgets.ToggleButtons(options=names, style={"button_width": "max-content"})
    shown = widgets.HTML()

    def show(_: object = None) -> None:
        try:
            form = forms(typed.value)[chosen.value]
        except Exception as error:
            shown.value = f"<code>{escape(telling_line(error))}</code>"
            return
        shown.value = form.html if isinstance(form, Picture) else f"<pre>{escape(form)}</pre>"

    typed.observe(show, "value")
    chosen.observe(show, "value")
    show()
    return widgets.VBox([typed, chosen, shown])
