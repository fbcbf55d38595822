"""A program: a process that tries to join the cluster at ADDRESS with what its environment holds, and run code there.

`python -m support.join_ray ADDRESS` prints `joined` and the name of a worker's variable, or the error's name.
"""

import os
import sys

import ray


def main(address: str) -> None:
    try:
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except Exception as error:  # noqa: BLE001  (which it is, is what is told)
        sys.stdout.write(type(error).__name__)
        return
    read = ray.remote(num_cpus=0)(lambda: os.environ.get("CANARY_KEY"))
    sys.stdout.write(f"joined {ray.get(read.remote())}")


if __name__ == "__main__":
    main(sys.argv[1])
