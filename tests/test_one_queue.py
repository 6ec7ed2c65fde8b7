"""Every local model of a process computes in one queue, which knows the operator's deadline for a call."""

from __future__ import annotations

from app.backends.local import inference_queue
from app.config.settings import Settings
from app.container.container import Container


def test_the_wiring_makes_one_queue_for_all_local_models_with_the_deadline_and_the_cores_of_the_settings(tmp_path):
    others = set(inference_queue._instances)
    container = Container(
        Settings(instance=tmp_path, call_seconds=7, torch_threads=3, reader="some/reader", flan_t5="some/flan-t5")
    )
    (queue,) = set(inference_queue._instances) - others
    assert (queue._call_seconds, queue._cores) == (7, 3) and container.components()
