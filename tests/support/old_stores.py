"""Stores as older versions made them."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

import jury_migrations
from jury_store import parse_store_url


def at_revision(url: str, revision: str) -> None:
    """An empty store as the version that ended with `revision` made it."""
    engine = create_engine(parse_store_url(url))
    with engine.begin() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(Path(jury_migrations.__path__[0])))
        config.set_main_option("path_separator", "os")
        command.upgrade(config, revision)
    engine.dispose()
