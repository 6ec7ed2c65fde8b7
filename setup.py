"""Package the checkout's folders as `hopcheck.root`; pyproject.toml cannot find packages under another name."""

from setuptools import find_namespace_packages, setup

NOT_SHIPPED = ["research.notes", "research.tests*"]
# pyproject.toml names the packages that carry models (app.config.model_packages).
REQUIREMENTS = ["requirements.txt", "pyproject.toml", "requirements-base-model.lock"]
FOLDERS = ("app", "research", "static", "templates", "locale", "migrations")
FOUND = find_namespace_packages(
    include=[pattern for each in FOLDERS for pattern in (each, f"{each}.*")],
    exclude=NOT_SHIPPED,
)

setup(
    packages=["hopcheck", "hopcheck.root", *(f"hopcheck.root.{name}" for name in FOUND)],
    package_dir={
        "hopcheck": "hopcheck",
        "hopcheck.root": ".",
        **{f"hopcheck.root.{name}": name.replace(".", "/") for name in FOUND},
    },
    package_data={
        "hopcheck.root": ["gunicorn.conf.py", "NOTICE", *REQUIREMENTS],
        **{f"hopcheck.root.{name}": ["*"] for name in FOUND},
    },
)
