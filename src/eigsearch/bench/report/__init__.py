"""The report: tables, figures and one page, from rows alone."""
