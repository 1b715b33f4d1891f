"""Deprecated alias of `eigsearch.visualization`, kept for one release."""

import warnings

from eigsearch.visualization import *  # noqa: F403

warnings.warn("eigsearch.report is now eigsearch.visualization.", DeprecationWarning, stacklevel=2)
