"""`python -m eigsearch`: the command, where its script is not on the path."""

from eigsearch.cli import main

if __name__ == "__main__":
    main()
