"""What the page's own scripts ask the server, as JSON; docs/review.md tells it to others."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, get_args

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ops.errors import ShiftlakeError
from ops.shards.manifest import DatasetMissing
from ops.video.review import freeze
from ops.video.review.events import TOOL_VERSION, reviewer_name
from ops.video.review.order import Order
from ops.video.review.refused import OlderMining
from pipelines.review_page.items import STAGES, item_of, mine, votes_of
from pipelines.review_page.opened import Opened, Reviews
from pipelines.review_page.recording import record_all
from pipelines.review_page.status import status_of

_MOST_ITEMS = 500
_MOST_EVENTS = 500
_Endpoint = Callable[[Request], Awaitable[Response]]


class Answer(JSONResponse):
    """JSON in ASCII: what somebody sent, half a character too, can be sent back in any case."""

    def render(self, content: Any) -> bytes:
        """The body of the answer."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


class BadRequest(Exception):
    """A question that makes no sense; its text tells why."""


def answering(answer: Callable[[Opened, Request, Any], Any]) -> _Endpoint:
    """An endpoint out of a function of the open review, the request and its JSON body.

    It runs beside the event loop: the lake may be far away, and recording waits for the disk.
    """

    async def endpoint(request: Request) -> Response:
        try:
            body = await _body(request) if request.method == "POST" else None
            return Answer(await run_in_threadpool(_answered, answer, request, body))
        except BadRequest as error:
            return problem(400, str(error))
        except ShiftlakeError as error:
            return problem_of(error)

    return endpoint


def _answered(
    answer: Callable[[Opened, Request, Any], Any], request: Request, body: Any
) -> dict[str, Any]:
    reviews: Reviews = request.app.state.reviews
    opened = reviews.get(request.path_params["source"])
    try:
        return dict(answer(opened, request, body))
    except OlderMining:
        reviews.look_again(request.path_params["source"])
        raise


def problem(status: int, text: str) -> JSONResponse:
    """An answer that says what is wrong."""
    return Answer({"error": text}, status)


def problem_of(error: ShiftlakeError) -> JSONResponse:
    """The answer to a request that ran into a problem a person can act on."""
    if isinstance(error, OlderMining):
        return problem(409, f"{error.what} {error.remedy[0].upper()}{error.remedy[1:]}")
    if isinstance(error, DatasetMissing):
        return problem(404, f"{error.what} {error.remedy}")
    return problem(503, f"{error.what} Expected {error.expected}, found {error.found}.")


def session(opened: Opened, request: Request, _: Any) -> dict[str, Any]:
    """What stays the same while a mining is reviewed."""
    review = opened.review
    return {
        "source": review.source,
        "mined_version": review.mined_version,
        "label_space": review.label_space,
        "class_names": review.class_names,
        "tool_version": TOOL_VERSION,
    }


def status(opened: Opened, request: Request, _: Any) -> dict[str, Any]:
    """How far everybody is, how well they agree, and what came of it."""
    me = _reviewer(request) if "reviewer" in request.query_params else None
    return status_of(opened.review, me, _raters(request), request.app.state.repeats)


def queue(opened: Opened, request: Request, _: Any) -> dict[str, Any]:
    """What a reviewer still has to do, the next first."""
    review, stage, me = opened.review, _stage(request), _reviewer(request)
    order: Any = _one_of(request, "order", get_args(Order), "suspicious")
    raters = _raters(request)
    if stage == "pairs":
        repeats = request.app.state.repeats
        items, left = review.shown(me, order, raters=raters, repeats=repeats)
    else:
        found = review.queue(me, stage, order, raters=raters)  # type: ignore[arg-type]
        items, left = [(subject, False) for subject in found], len(found)
    wanted = _number(request, "limit", 60, _MOST_ITEMS)
    return {
        "mined_version": review.mined_version,
        "left": left,
        "items": [item_of(review, stage, subject, again) for subject, again in items[:wanted]],
    }


def decided(opened: Opened, request: Request, _: Any) -> dict[str, Any]:
    """What a reviewer decided last."""
    review, stage = opened.review, _stage(request)
    limit = _number(request, "limit", 200, _MOST_ITEMS)
    total, items = mine(review, stage, _reviewer(request), limit)
    return {"mined_version": review.mined_version, "total": total, "items": items}


def votes(opened: Opened, request: Request, _: Any) -> dict[str, Any]:
    """Everybody's votes on one subject."""
    subject = request.query_params.get("subject", "")
    review = opened.review
    if not (review.has_anchor(subject) or review.has_pair(subject)):
        raise BadRequest("There is no such anchor or pair.")
    return {"subject": subject, "votes": votes_of(review, subject)}


def record(opened: Opened, request: Request, body: Any) -> dict[str, Any]:
    """Record decisions; what is in the answer is on disk."""
    version, events = body.get("mined_version"), body.get("events")
    if not isinstance(version, str) or not isinstance(events, list):
        raise BadRequest("A body of mined_version (text) and events (a list) is expected.")
    if len(events) > _MOST_EVENTS:
        raise BadRequest(f"At most {_MOST_EVENTS} decisions are taken at once.")
    if version != opened.review.mined_version:
        raise OlderMining(opened.review.root, opened.review.source, version[:64])
    recorded, refused = record_all(opened.review, version, events)
    return {"mined_version": version, "recorded": recorded, "refused": refused}


def freeze_now(opened: Opened, request: Request, body: Any) -> dict[str, Any]:
    """Freeze the review as it stands."""
    review, reviews = opened.review, request.app.state.reviews
    if body.get("mined_version") != review.mined_version:
        raise OlderMining(review.root, review.source, str(body.get("mined_version"))[:64])
    frozen = freeze(
        reviews.root,
        review.source,
        reviews.catalog,
        allow_pending=body.get("allow_pending") is True,
    )
    states = review.progress()
    return {
        "version": frozen.version,
        "anchors": states.anchors.states.get("usable", 0),
        "pairs": states.pairs.states.get("accepted", 0),
    }


async def _body(request: Request) -> dict[str, Any]:
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadRequest("A JSON object is expected.")
    return found


def _stage(request: Request) -> str:
    return _one_of(request, "stage", STAGES, "")


def _one_of(request: Request, name: str, known: tuple[str, ...], default: str) -> str:
    found = request.query_params.get(name, default)
    if found not in known:
        raise BadRequest(f"{name} is one of {', '.join(known)}.")
    return found


def _number(request: Request, name: str, default: int, most: int) -> int:
    text = request.query_params.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        raise BadRequest(f"{name} is a whole number.")
    return min(int(text), most)


def _raters(request: Request) -> int | None:
    return _number(request, "raters", 0, 100) or None


def _reviewer(request: Request) -> str:
    try:
        return reviewer_name(request.query_params.get("reviewer", ""))
    except ValueError as error:
        raise BadRequest(str(error)) from error
