"""The index of a corpus deleted under a running server, and built again."""

from __future__ import annotations

import shutil

import pytest

from tests.faults.servers import assert_sound, flask, serving

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(600)]

WITH_INDEX = "tests.faults.scripted:searching_app()"


def test_an_index_deleted_under_a_running_server_fails_hops_until_it_is_built_again(instance, indexed):
    """Linux keeps deleted files readable while they are open, so the server checks for the manifest."""
    shutil.copytree(indexed / "vital", instance / "corpora" / "vital")
    with serving(instance, WITH_INDEX) as server:
        page = server.wait_for(server.start(), 'id="verdict-heading"', 60)
        assert "wikipedia.org/wiki/Hamlet" in page
        shutil.rmtree(instance / "corpora" / "vital")
        page = server.wait_for(server.start(), "No verdict")
        assert "The index of the corpus vital is missing" in page and "make corpus" in page
        assert "The index of the corpus vital is missing" in server.said()
        assert flask(instance, "corpus", "build").returncode == 0
        page = server.wait_for(server.start(), 'id="verdict-heading"', 60)
        assert "wikipedia.org/wiki/Hamlet" in page
    assert_sound(instance)
