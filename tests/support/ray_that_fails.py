"""A program: the `jury` command where Ray cannot be started, nor joined.

`python -m support.ray_that_fails demo` calls `jury demo` so; each try of Ray's is a line on stderr.
"""

import sys
from typing import NoReturn

import ray


def fail(**options: object) -> NoReturn:
    sys.stderr.write(f"ray.init({options['address']})\n")
    # Of the types that Ray raises: for a node that is too slow, and for a head without a node.
    raise (Exception if options["address"] == "local" else ConnectionError)("it is too slow.\nIt could be faster.")


if __name__ == "__main__":
    ray.init = fail
    sys.argv[0] = "jury"
    from jury_cli.entry import main

    main()
