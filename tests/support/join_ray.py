"""A program: a process that tries to join the cluster at ADDRESS with what its environment holds, and run code there.

`python -m support.join_ray ADDRESS` prints `ran code`, or the name of the error that kept it from that.
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
    elsewhere = ray.remote(num_cpus=0)(os.getpid)
    sys.stdout.write("ran code" if ray.get(elsewhere.remote()) != os.getpid() else "ran nothing")


if __name__ == "__main__":
    main(sys.argv[1])
