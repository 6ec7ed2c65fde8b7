"""The page "Set up": language models, search engines, downloads, documents, and the checks of `doctor`."""

from app.site_setup.service import Offer, SiteSetup
from app.site_setup.tasks import Task

__all__ = ["Offer", "SiteSetup", "Task"]
