"""Deprecated alias of `eigsearch.parallel`, kept for one release."""

import warnings

from eigsearch.parallel import *  # noqa: F403

warnings.warn("eigsearch.work is now eigsearch.parallel.", DeprecationWarning, stacklevel=2)
