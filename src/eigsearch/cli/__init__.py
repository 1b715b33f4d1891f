"""The command line: parse, call the library, print."""


def main() -> None:
    """Run the command `eigsearch`."""
    from eigsearch.cli.app import app

    app()
