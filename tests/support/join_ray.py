"""A program: a process that tries to join the cluster at ADDRESS with its environment's token, and run code there.

`python -m support.join_ray ADDRESS` prints `ran code`, or the name of the error that kept it from that.
"""

import os
import sys


def token_of_the_worker() -> str | None:
    """The part of a worker's environment that a joined process can read."""
    return os.environ.get("RAY_AUTH_TOKEN")


def main(address: str) -> None:
    import ray

    try:
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except Exception as error:  # noqa: BLE001  (its type is reported)
        sys.stdout.write(type(error).__name__)
        return
    found = ray.get(ray.remote(num_cpus=0)(token_of_the_worker).remote())
    sys.stdout.write("ran code" if found is not None else "ran nothing")


if __name__ == "__main__":
    main(sys.argv[1])
