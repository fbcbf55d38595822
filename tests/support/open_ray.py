"""A program: an open cluster, as `ray start --head` without a token would be; on the loopback address all the same.

It prints its address, and ends when its standard input does.
"""

import sys

import ray

if __name__ == "__main__":
    started = ray.init(
        address="local",
        include_dashboard=False,
        num_cpus=2,
        object_store_memory=100 * 1024 * 1024,
        log_to_driver=False,
        logging_level="error",
        _temp_dir=sys.argv[1],
    )
    sys.stdout.write(f"{started.address_info['gcs_address']}\n")
    sys.stdout.flush()
    sys.stdin.read()
    ray.shutdown()
