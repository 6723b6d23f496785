"""The page on which people review mined frame sets: served on loopback, kept in the lake."""

from pipelines.review_page.application import make_application
from pipelines.review_page.serving import serve_reviews

__all__ = ["make_application", "serve_reviews"]
