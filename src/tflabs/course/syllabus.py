"""The map of the course, read from `labs/syllabus.toml`."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tflabs.errors import UserError


@dataclass(frozen=True)
class Bullet:
    """One bullet of an outline, and the graded exercises that carry it."""

    id: str
    en: str
    original: str
    exercises: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """One section of an outline: a lab, written or still to be written.

    `minutes` and `points` are 0 while the lab is not written. `preload` names the modules that a warm kernel imports
    before the lab runs; `environment` the variables that must be set before it starts.
    """

    id: str
    title: str
    original: str
    question: str
    minutes: int
    points: int
    prerequisites: tuple[str, ...]
    preload: tuple[str, ...]
    environment: dict[str, str]
    bullets: tuple[Bullet, ...]


@dataclass(frozen=True)
class Unit:
    id: str
    title: str
    original: str
    sections: tuple[Section, ...]


@dataclass(frozen=True)
class Syllabus:
    units: tuple[Unit, ...]

    @property
    def sections(self) -> tuple[Section, ...]:
        return tuple(section for unit in self.units for section in unit.sections)

    def section(self, lab: str) -> Section:
        """The section of a lab.

        Raises:
            UserError: no section has this name; the text lists the nearest names.
        """
        names = [section.id for section in self.sections]
        if lab not in names:
            raise UserError(f"there is no lab {lab!r}; {nearest(lab, names)}")
        return self.sections[names.index(lab)]


def nearest(name: str, known: list[str]) -> str:
    """'did you mean …' for a misspelt name; all names when nothing is near."""
    prefixed = [candidate for candidate in known if candidate.startswith(name)]
    parts = [candidate for candidate in known if name in candidate]
    close = prefixed or parts or difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(close[:3]) + "?"
    return "the labs are: " + ", ".join(known)


def read_syllabus(path: Path) -> Syllabus:
    """Read and check the syllabus.

    Raises:
        UserError: the file is not TOML, or a field is missing, unknown or of the wrong type; the text names the place.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}") from None
    units = tuple(_unit(unit, f"{path}: unit {number}") for number, unit in enumerate(data.get("unit", []), 1))
    if not units:
        raise UserError(f"{path}: holds no [[unit]]")
    syllabus = Syllabus(units)
    ids = [section.id for section in syllabus.sections]
    repeated = sorted({lab for lab in ids if ids.count(lab) > 1})
    if repeated:
        raise UserError(f"{path}: these labs stand there twice: {', '.join(repeated)}")
    for section in syllabus.sections:
        unknown = [lab for lab in section.prerequisites if lab not in ids]
        if unknown:
            raise UserError(f"{path}: {section.id} has the prerequisite {unknown[0]!r}; {nearest(unknown[0], ids)}")
    return syllabus


def _unit(data: dict[str, Any], where: str) -> Unit:
    fields = _fields(data, where, {"id": str, "title": str, "original": str, "lab": list})
    sections = tuple(_section(lab, f"{where}, lab {number}") for number, lab in enumerate(fields.pop("lab"), 1))
    return Unit(sections=sections, **fields)


def _section(data: dict[str, Any], where: str) -> Section:
    where = f"{where} ({data.get('id', 'without id')})"
    fields = _fields(
        data,
        where,
        {"id": str, "title": str, "original": str, "bullets": list},
        {
            "question": ("", str),
            "minutes": (0, int),
            "points": (0, int),
            "prerequisites": ([], list),
            "preload": (["tensorflow"], list),
            "environment": ({}, dict),
        },
    )
    bullets = tuple(_bullet(bullet, f"{where}, bullet {number}") for number, bullet in enumerate(fields["bullets"], 1))
    fields |= {"bullets": bullets, "prerequisites": tuple(fields["prerequisites"]), "preload": tuple(fields["preload"])}
    return Section(**fields)


def _bullet(data: dict[str, Any], where: str) -> Bullet:
    fields = _fields(data, where, {"id": str, "en": str, "original": str}, {"exercises": ([], list)})
    fields["exercises"] = tuple(fields["exercises"])
    return Bullet(**fields)


def _fields(
    data: dict[str, Any],
    where: str,
    required: dict[str, type],
    optional: dict[str, tuple[Any, type]] | None = None,
) -> dict[str, Any]:
    optional = optional or {}
    unknown = set(data) - set(required) - set(optional)
    if unknown:
        raise UserError(f"{where}: unknown field {sorted(unknown)[0]!r}; known are {', '.join([*required, *optional])}")
    missing = [name for name in required if name not in data]
    if missing:
        raise UserError(f"{where}: the field {missing[0]!r} is missing")
    values = {name: data.get(name, default) for name, (default, _) in optional.items()} | {
        name: data[name] for name in required
    }
    types = required | {name: kind for name, (_, kind) in optional.items()}
    for name, value in values.items():
        if type(value) is not types[name]:
            raise UserError(f"{where}: {name} is a {types[name].__name__}, found {value!r}")
    return values
