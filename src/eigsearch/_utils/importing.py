"""Import what a user names: `package.module:name` or `file.py:name`."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from eigsearch._utils.name_lookup import resolve
from eigsearch.errors import InputError


def is_import_name(name: object) -> bool:
    """Return whether a text names something in a module or a file.

    >>> is_import_name("mypkg.nets:Net"), is_import_name("nets.py:Net"), is_import_name("gin")
    (True, True, False)
    """
    return isinstance(name, str) and ":" in name


def import_named(name: str, option: str, kind: str) -> Any:
    """Import `package.module:name` or `file.py:name` and return the object.

    Args:
        name: The name.
        option: Where the user wrote it, such as `--model`, for messages.
        kind: What it is, in one word, for messages.

    Raises:
        InputError: If the module, the file or the name in it is not there.
    """
    module_name, _, attribute = name.rpartition(":")
    is_file = module_name.endswith(".py")
    module = module_of_file(Path(module_name), option) if is_file else _module(name, option)
    known = [key for key, value in vars(module).items() if callable(value) and key[0] != "_"]
    if attribute not in known and not hasattr(module, attribute):
        attribute = resolve(f"{kind} in {module_name}", attribute, known)
    return getattr(module, attribute)


def module_of_file(path: Path, option: str) -> ModuleType:
    """Import a file by its name, as workers will do too."""
    if not path.is_file():
        raise InputError(f"Expected {option} to name a file that exists (got {path}). Check it.")
    if "." in path.stem:
        raise InputError(
            f"Expected {option} to name a file without a dot before .py, where Python takes it for "
            f"a package (got {path}). Rename the file."
        )
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    importlib.invalidate_caches()
    try:
        module = importlib.import_module(path.stem)
    except (Exception, SystemExit) as error:  # whatever the file does when it is read
        raise InputError(
            f"Expected {option} to name a file that can be imported (got {reason_of(error)}). "
            "Mend the file."
        ) from error
    if Path(str(module.__file__)).resolve() != path.resolve():
        raise InputError(
            f"Expected {path} to have a name of its own (got that of {module.__file__}). "
            "Rename the file."
        )
    return module


def _module(name: str, option: str) -> ModuleType:
    module_name = name.rpartition(":")[0]
    if not all(module_name.split(".")):
        raise InputError(
            f"Expected {option} to name a module and something in it (got {name!r}). "
            "Write package.module:name, or path/to/file.py:name."
        )
    if os.getcwd() not in sys.path:  # last: no file there may take the place of a package
        sys.path.append(os.getcwd())
    try:
        return importlib.import_module(module_name)
    except ImportError as error:
        raise InputError(
            f"Expected {option} {name} to name a module that can be imported (got: {error}). "
            "Run the command where the module is, install its package, or name its file: "
            "path/to/file.py:name."
        ) from error
    except (Exception, SystemExit) as error:
        raise InputError(
            f"Expected {option} {name} to name a module that can be imported (got "
            f"{reason_of(error)}). Mend the module."
        ) from error


def reason_of(error: BaseException) -> str:
    """Return what went wrong in code of the user, and in which line of which file."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith("<frozen")]  # not Python's
    said, place = str(error).split("\n")[0], f"{own[-1].filename}, line {own[-1].lineno}"
    if isinstance(error, SyntaxError):  # of the file that was to be run next; Python names it
        if error.filename is None:  # of a file that holds no text
            return f"{type(error).__name__}: {error.msg}"
        said, place = error.msg, f"{error.filename}, line {error.lineno}"
    return f"{type(error).__name__}{said and f': {said}'}; {place}"
