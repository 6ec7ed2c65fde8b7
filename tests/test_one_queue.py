"""All local models of a process compute in one queue with the configured deadline for a call."""

from __future__ import annotations

from app.backends.local import inference_queue
from app.config.settings import Settings
from app.container.container import Container


def test_all_local_models_share_one_queue_with_the_configured_deadline(tmp_path):
    others = set(inference_queue._instances)
    container = Container(Settings(instance=tmp_path, call_seconds=7, flan_t5="some/flan-t5"))
    (queue,) = set(inference_queue._instances) - others
    assert queue._call_seconds == 7 and container.components()
