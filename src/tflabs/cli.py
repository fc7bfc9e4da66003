"""The command line: one function a command, each a few lines over the package that does the work."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tflabs.errors import UserError
from tflabs.program import PROGRAM

app = typer.Typer(
    name="tflabs",
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)

USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]  # click's UsageError, which Typer keeps to itself
INTERRUPTED = 130

Labs = Annotated[list[str] | None, typer.Argument(help="Names of labs, such as 2-2-session; all, if left out.")]
Begun = Annotated[
    list[str] | None, typer.Argument(help="Names of labs, such as 2-2-session; those that you have begun, if left out.")
]
Lab = Annotated[str, typer.Argument(help="Name of a lab, such as 2-2-session.")]
Folder = Annotated[Path | None, typer.Option("--dir", help="Your folder; `work` in the course if left out.")]


@app.callback()
def overview(context: typer.Context) -> None:
    """TensorFlow Internals Labs: understand TensorFlow by building it."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command(rich_help_panel="Learners")
def study(
    lab: Annotated[str | None, typer.Argument(help="The lab to open; the start page if left out.")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser window.")] = True,
    port: Annotated[int | None, typer.Option(help="Port of JupyterLab; the first free one if left out.")] = None,
    folder: Folder = None,
) -> None:
    """Copy labs that are missing into your folder and open JupyterLab on the start page."""
    from tflabs.learning.command import study

    raise typer.Exit(study(lab, browser=browser, port=port, folder=folder))


@app.command(rich_help_panel="Learners")
def check(
    labs: Begun = None,
    file: Annotated[Path | None, typer.Option(help="Check this notebook instead of the one in your folder.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")] = False,
    folder: Folder = None,
) -> None:
    """Grade your notebook as it is saved, with all tests, hidden ones too.

    Exit code 0: all points; 1: not all; 2: it could not be graded.
    """
    from tflabs.learning.command import check

    raise typer.Exit(check(labs or [], file=file, as_json=as_json, folder=folder))


@app.command(rich_help_panel="Learners")
def watch(labs: Begun = None, folder: Folder = None) -> None:
    """Check a lab again each time its notebook is saved, in a warm kernel. Ctrl-C ends it.

    Without names: every lab that you have begun or begin while it watches.
    """
    from tflabs.learning.command import watch

    raise typer.Exit(watch(labs or [], folder=folder))


@app.command(rich_help_panel="Learners")
def progress(folder: Folder = None) -> None:
    """Show what is done and what to do next."""
    from tflabs.learning.command import progress

    raise typer.Exit(progress(folder=folder))


@app.command(rich_help_panel="Learners")
def reset(lab: Lab, folder: Folder = None) -> None:
    """Put a fresh copy of a lab into your folder; your old notebook is kept beside it."""
    from tflabs.learning.command import reset

    raise typer.Exit(reset(lab, folder=folder))


@app.command(rich_help_panel="Learners")
def solution(
    lab: Lab,
    exercise: Annotated[str, typer.Argument(help="Name of an exercise, as `check` shows it.")],
    folder: Folder = None,
) -> None:
    """Show our solution of an exercise and why it is so, once yours has passed."""
    from tflabs.learning.command import solution

    raise typer.Exit(solution(lab, exercise, folder=folder))


@app.command(rich_help_panel="Instructors")
def grade(
    labs: Annotated[
        list[str] | None, typer.Argument(help="Names of labs; all that have submissions, if left out.")
    ] = None,
    student: Annotated[list[str] | None, typer.Option(help="Grade this student alone; may be given again.")] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Notebooks that run at a time; as many as there are cores, if left out.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://host:8786, whose workers run them.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Grade again what is graded already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")] = False,
) -> None:
    """Autograde what was handed in, as `nbgrader autograde` does, many notebooks at a time.

    What is graded already is left as it is, unless a newer submission has come. A run that was interrupted is taken up
    by the next one where it stopped. Exit code 1 if a submission could not be graded.
    """
    from tflabs.grading.command import Wanted, grade

    wanted = Wanted(tuple(labs or ()), tuple(student or ()), jobs, scheduler, force)
    raise typer.Exit(grade(wanted, as_json=as_json))


@app.command(rich_help_panel="Authors")
def build(
    labs: Labs = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; only say what is stale.")] = False,
) -> None:
    """Build `source/` and `release/` from the texts of the labs.

    Exit code 1 if something is stale (with --check) or a text breaks a rule.
    """
    from tflabs.authoring.command import build

    raise typer.Exit(build(labs or [], check=check))


@app.command(rich_help_panel="Authors")
def verify(
    labs: Labs = None,
    exercise: Annotated[str | None, typer.Option(help="Try the answers to this exercise alone.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Kernels that run at a time.")] = 2,
) -> None:
    """Prove that a lab's tests judge right: the solution, the stub, and every wrong and right answer.

    Exit code 1 if a lab falls short.
    """
    from tflabs.authoring.command import verify

    raise typer.Exit(verify(labs or [], exercise=exercise, jobs=jobs))


@app.command(
    rich_help_panel="Authors",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def test(
    arguments: Annotated[list[str] | None, typer.Argument(help="For pytest, such as `-k start_page`.")] = None,
) -> None:
    """Run the project's tests, two at a time. The exit code is pytest's; pytest's own help: `test -- --help`.

    Without names it is everything: half an hour, and more with each lab. `--share 3`, as in continuous integration,
    runs a third of those cases of which there are many (proofs of labs, hostile notebooks): another at another commit.
    """
    from tflabs.authoring.command import test

    raise typer.Exit(test(arguments or []))


def main() -> None:
    """Run the command line; an error that the user can mend is one line on stderr and exit code 2."""
    try:
        code = app(prog_name=PROGRAM, standalone_mode=False)
        if code != INTERRUPTED:  # Typer's answer to Ctrl-C
            sys.exit(code)
        message = "interrupted"
        print(file=sys.stderr)
    except UserError as error:
        message, code = str(error), 2
    except USAGE_ERROR as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context else PROGRAM
        message, code = f"{_message(error)} See {command} --help", 2
    except OSError as error:
        message, code = f"{error.filename or 'the system'}: {error.strerror}", 2
    print(f"tflabs: {message}", file=sys.stderr)
    sys.exit(code)


def _message(error: Exception) -> str:
    text: str = error.format_message()  # type: ignore[attr-defined]
    return text if text.endswith((".", "?")) else f"{text}."


if __name__ == "__main__":
    main()
