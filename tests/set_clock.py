"""Set PostgreSQL's clock from a test, for one database and all its later connections."""

from __future__ import annotations

from sqlalchemy import create_engine, make_url, text

SHIFTED = """
CREATE FUNCTION set_clock.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql AS
$$ SELECT pg_catalog.clock_timestamp() + ahead FROM set_clock.by $$
"""


class SetClock:
    """Makes a schema that precedes PostgreSQL's own in the search path, with its own `clock_timestamp`."""

    def __init__(self, url: str) -> None:
        self._engine = create_engine(url, isolation_level="AUTOCOMMIT")
        database = make_url(url).database
        self._do(
            "CREATE SCHEMA set_clock",
            "CREATE TABLE set_clock.by (ahead interval)",
            "INSERT INTO set_clock.by VALUES ('0')",
            SHIFTED,
            f'ALTER DATABASE "{database}" SET search_path = set_clock, pg_catalog, public',
        )

    def set(self, seconds: float) -> None:
        """Set the clock ahead of the machine's by `seconds`, or behind when below 0."""
        self._do(f"UPDATE set_clock.by SET ahead = make_interval(secs => {seconds})")

    def _do(self, *statements: str) -> None:
        with self._engine.connect() as connection:
            for statement in statements:
                connection.execute(text(statement))
        self._engine.dispose()
