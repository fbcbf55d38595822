"""Ray in this process, for commands that start and stop it themselves. Its import costs seconds."""


def start_ray(address: str | None, *, open_cluster: bool) -> bool:
    """Start a local cluster, or join the one at `address`; returns whether it was not running here before.

    Raises:
        ActorError: it cannot be started, joined, or required no token (`open_cluster` accepts that).
    """
    from jury_actors import ray_runtime

    return ray_runtime.start_ray(address, open_cluster=open_cluster)


def stop_ray() -> None:
    """Stop what `start_ray` started, or leave the cluster that it joined."""
    from jury_actors import ray_runtime

    ray_runtime.stop_ray()
