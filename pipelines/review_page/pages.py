"""The pages themselves: the list of sources, the overview of one, and its three passes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ops.errors import ShiftlakeError
from pipelines.review_page.api import problem_of
from pipelines.review_page.opened import Reviews
from pipelines.review_page.words import KEYS, PASSES, REASON_WORDS

FOLDER = Path(__file__).parent


async def home(request: Request) -> Response:
    """What can be reviewed; straight to it, where it is just one source."""
    sources = await run_in_threadpool(_reviews(request).sources)
    if len(sources) == 1:
        return RedirectResponse(f"/review/{quote(sources[0])}", 307)
    return _page("sources", sources=sources)


async def overview(request: Request) -> Response:
    """The overview of one source."""
    if (refused := await _refusal(request)) is not None:
        return refused
    passes = [
        (name, number, about.title, about.text)
        for number, (name, about) in enumerate(PASSES.items(), start=1)
    ]
    return _page("overview", source=request.path_params["source"], passes=passes)


async def one_pass(request: Request) -> Response:
    """One pass of the review of a source."""
    name = request.path_params["stage"]
    if name not in PASSES:
        return _page(
            "none",
            404,
            what="There is no such page.",
            remedy="The passes are linked from the overview.",
        )
    if (refused := await _refusal(request)) is not None:
        return refused
    return _page(
        "pass",
        source=request.path_params["source"],
        stage=name,
        title=PASSES[name].title,
        next=_after(name),
        text=PASSES[name].text,
        keys=KEYS[name],
        reasons=REASON_WORDS,
    )


def _after(name: str) -> tuple[str, str] | None:
    names = list(PASSES)
    following = names[names.index(name) + 1 :]
    return (following[0], PASSES[following[0]].title) if following else None


async def _refusal(request: Request) -> Response | None:
    try:
        await run_in_threadpool(_reviews(request).get, request.path_params["source"])
    except ShiftlakeError as error:
        status = problem_of(error).status_code
        return _page("none", status, what=error.what, remedy=error.remedy)
    return None


def _reviews(request: Request) -> Reviews:
    found: Reviews = request.app.state.reviews
    return found


def _page(name: str, status: int = 200, **values: Any) -> Response:
    return HTMLResponse(_templates().get_template(f"{name}.html.j2").render(values), status)


@cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
