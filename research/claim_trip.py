"""Count the files of app/ that one claim passes, from the POST to its last frame, with the real modules.

python -m research.claim_trip "Warsaw is the capital of Poland."
"""

from __future__ import annotations

import re
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType

from app import create_app
from app.config.settings import Settings

APP = Path(__file__).resolve().parents[1] / "app"


def main(claim: str) -> None:
    """Print the number of files by package, and the files."""
    seen: set[str] = set()
    prefix = f"{APP}/"

    def watch(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(prefix) and frame.f_code.co_name != "<module>":
            seen.add(name.removeprefix(prefix))

    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.from_env({"DATABASE_URL": f"sqlite:///{folder}/trip.db"})
        app = create_app(settings)
        from app.extensions import db

        with app.app_context():
            db.create_all()
        services = app.extensions["hopcheck"]
        services.container.warm()
        client = app.test_client()
        token = re.search(r'name="csrf_token" value="([^"]+)"', client.get("/").text)
        threading.setprofile(watch)
        sys.setprofile(watch)
        client.get("/")
        fields = {"csrf_token": token[1] if token else "", "claim": claim}
        location = client.post("/runs", data=fields).headers["Location"]
        for _ in client.get(f"{location.rstrip('/')}/events").iter_encoded():
            pass
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
        services.runs.stop()
    packages: dict[str, int] = {}
    for name in seen:
        package = name.rpartition("/")[0] or "."
        packages[package] = packages.get(package, 0) + 1
    print(*sorted(seen), sep="\n")
    print(f"{len(seen)} files: " + ", ".join(f"{package} {count}" for package, count in sorted(packages.items())))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "Warsaw is the capital of Poland.")
