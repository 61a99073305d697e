"""The Python function of a verb: what `lcca.api` has."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from textwrap import TextWrapper
from typing import Any, ParamSpec, TypeVar

from pydantic import TypeAdapter, ValidationError

from lcca.experiments.recipes.prepared import Result
from lcca.experiments.verbs.options import Kept
from lcca.inputs.errors import InputError, did_you_mean
from lcca.inputs.options import options_of
from lcca.inputs.problems import problem_texts

P = ParamSpec("P")
K = TypeVar("K", bound=Kept)


def function(name: str, of: Callable[P, K], prepare: Callable[[K], Any]) -> Callable[P, Result]:
    """Return the function of a verb: its parameters are the fields, which pydantic checks.

    Args:
        name: of the function.
        of: the class of the verb.
        prepare: returns what is ready to run; its docstring says what that does.
    """
    known = [each.key for each in options_of(of)]

    def run(*args: P.args, **kwargs: P.kwargs) -> Result:
        for word in kwargs.keys() - set(known):
            raise TypeError(f"unexpected keyword argument {word!r}{did_you_mean(word, known)}")
        verb = _checked(of(*args, **kwargs))
        found: Result = prepare(verb).run(verb.out, resume=verb.resume, quiet=verb.quiet)
        return found

    lines = TextWrapper(110, initial_indent=" " * 4, subsequent_indent=" " * 8, break_on_hyphens=False)
    texts = (f"{each.key}: {each.help.replace(' (default: all cores)', '')}." for each in options_of(of))
    fails = ["Raises:", "    InputError: something cannot be read or run, or the folder is not free.", ""]
    for title, kinds in getattr(of, "listed", {}).items():
        fails += [f"{title}:", *(lines.fill(f"{kind}: {those}") for kind, those in kinds.items())]
    run.__doc__ = "\n".join([f"{inspect.getdoc(prepare)}\n", "Args:", *map(lines.fill, texts), "", *fails])
    run.__signature__ = inspect.signature(of).replace(return_annotation=Result)  # type: ignore[attr-defined]
    run.__name__ = run.__qualname__ = name
    run.__module__ = prepare.__module__
    run.verb = of  # type: ignore[attr-defined]
    return run


def _checked(verb: K) -> K:
    values = {each.key: getattr(verb, each.key) for each in options_of(type(verb))}
    several = [each.key for each in options_of(type(verb)) if each.several and not isinstance(values[each.key], str)]
    values |= {key: list(values[key]) for key in several}  # also of keys, arrays and generators
    try:
        return TypeAdapter[K](type(verb)).validate_python(values)
    except ValidationError as error:
        texts = problem_texts(error.errors(), None, values)
        raise InputError("\n".join(f"{'.'.join(map(str, keys))}: {text}" for keys, text in texts.items())) from None
