"""The application: which address is answered by what, behind the guard."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from ops.errors import ShiftlakeError
from ops.storage import Root
from ops.video.review.repeats import SHARE
from pipelines.review_page import api, pages
from pipelines.review_page.guard import Guard
from pipelines.review_page.opened import Reviews

if TYPE_CHECKING:
    from ops.catalog import Catalog

_FOR_GOOD = "private, max-age=31536000, immutable"
_TYPES = {"jpg": "image/jpeg", "png": "image/png"}


def make_application(
    root: Root,
    catalog: Catalog,
    hosts: Iterable[str],
    source: str | None = None,
    repeats: float = SHARE,
) -> ASGIApp:
    """Make the review page of a lake.

    Parameters
    ----------
    root : Root
    catalog : Catalog
    hosts : iterable of str
        Values of the ``Host`` header that name the page, with their ports.
    source : str, optional
        The one source to offer; all that are mined by default.
    repeats : float
        Share of the pairs that a reviewer is shown twice, in [0, 1].
    """
    routes = [
        Route("/", pages.home),
        Route("/review/{source}", pages.overview),
        Route("/review/{source}/{stage}", pages.one_pass),
        Route("/images/{source}/{version}/{key:path}", image),
        Mount("/static", _Unchanging(directory=os.fspath(pages.FOLDER / "static"))),
    ]
    for path, method, answer in (
        ("", "GET", api.session),
        ("/status", "GET", api.status),
        ("/queue", "GET", api.queue),
        ("/mine", "GET", api.decided),
        ("/votes", "GET", api.votes),
        ("/events", "POST", api.record),
        ("/freeze", "POST", api.freeze_now),
    ):
        routes.append(Route(f"/api/{{source}}{path}", api.answering(answer), methods=[method]))
    app = Starlette(routes=routes, exception_handlers={404: _nothing, 405: _nothing, 500: _failed})
    app.state.repeats = repeats
    app.state.reviews = Reviews(root, catalog, source)
    return Guard(app, hosts=tuple(hosts))


async def image(request: Request) -> Response:
    """The published bytes of one frame of one mining."""
    asked = request.path_params
    reviews: Reviews = request.app.state.reviews
    try:
        opened = await run_in_threadpool(reviews.get, asked["source"])
        if asked["version"] != opened.review.mined_version:
            return api.problem(404, "This picture is of an older mining.")
        data, extension = await run_in_threadpool(opened.images.read, asked["key"])
    except KeyError:
        return api.problem(404, "There is no such picture.")
    except ShiftlakeError as error:
        return api.problem_of(error)
    return Response(data, media_type=_TYPES[extension], headers={"Cache-Control": _FOR_GOOD})


async def _nothing(request: Request, error: Exception) -> JSONResponse:
    return api.problem(getattr(error, "status_code", 404), "There is nothing at this address.")


async def _failed(request: Request, error: Exception) -> JSONResponse:
    return api.problem(500, "The server failed; its terminal says why.")


class _Unchanging(StaticFiles):
    """Files of this package: asked for anew each time, and sent only if they changed."""

    def file_response(self, *args: object, **kwargs: object) -> Response:
        found = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        found.headers["Cache-Control"] = "no-cache"
        return found
