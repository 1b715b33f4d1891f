"""Running a plan: settings, explainers, metrics, rows."""
