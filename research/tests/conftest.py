"""The fixtures of `tests` that these tests use too."""

from tests.conftest import (  # noqa: F401
    compiled,
    database_url,
    no_servers_of_this_machine,
    one_thread_a_model,
    pytest_ignore_collect,
    routes_compiled_once,
    sessions,
    statements_compiled_once,
)
