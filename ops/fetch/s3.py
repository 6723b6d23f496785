"""The s3 reader: an object of a bucket as a source (a lab's own mirror).

Credentials, region and endpoint come from the usual ``AWS_*`` variables; without any, the
bucket is read as a public one. Where results are *stored* is :mod:`ops.storage`'s subject.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import unquote, urlsplit

from ops.fetch.body import PIECE, Body, RangeRefused, Transient, Unavailable
from ops.fetch.credentials import scrub
from ops.storage.root import ENDPOINT_VARIABLE

_ABSENT = ("NoSuchKey", "NoSuchBucket", "404")
_CHANGED = ("PreconditionFailed", "412", "InvalidRange", "416")


def open_s3(url: str, *, offset: int = 0, validator: str | None = None, timeout: float) -> Body:
    """Open an object from `offset` on.

    Parameters
    ----------
    url : str
        ``s3://<bucket>/<key>``.
    offset, validator, timeout
        As for :func:`ops.fetch.http.open_http`.

    Raises
    ------
    Transient, Unavailable, RangeRefused
    """
    from botocore.exceptions import BotoCoreError, ClientError

    parts = urlsplit(url)
    request: dict[str, Any] = {"Bucket": parts.netloc, "Key": unquote(parts.path.lstrip("/"))}
    if offset:
        request["Range"] = f"bytes={offset}-"
        if validator:
            request["IfMatch"] = validator
    try:
        answer = _client(timeout).get_object(**request)
    except ClientError as error:
        raise _signal(error.response) from None
    except (BotoCoreError, OSError) as error:
        raise Transient(f"{type(error).__name__}: {scrub(str(error))}") from None
    stream = answer["Body"]
    partial = offset and answer["ResponseMetadata"]["HTTPStatusCode"] == 206
    start = offset if partial else 0
    return Body(
        start=start,
        total=start + int(answer["ContentLength"]),
        validator=answer.get("ETag"),
        content_type=str(answer.get("ContentType", "")).partition(";")[0].lower(),
        read=lambda: _read(stream),
        close=stream.close,
    )


def _client(timeout: float) -> Any:
    import botocore.session
    from botocore import UNSIGNED
    from botocore.config import Config

    session = botocore.session.get_session()
    options: dict[str, Any] = {
        "connect_timeout": min(timeout, 20.0),
        "read_timeout": timeout,
        # One retry policy for all schemes: the transfer's.
        "retries": {"total_max_attempts": 1},
    }
    if session.get_credentials() is None:
        options["signature_version"] = UNSIGNED
    if session.get_config_variable("region") is None:
        options["region_name"] = "us-east-1"
    return session.create_client(
        "s3", endpoint_url=os.environ.get(ENDPOINT_VARIABLE) or None, config=Config(**options)
    )


def _signal(response: Any) -> Exception:
    code = str(response["Error"].get("Code", ""))
    status = int(response["ResponseMetadata"].get("HTTPStatusCode", 0))
    reason = scrub(f"S3 {code}: {response['Error'].get('Message', '')}".strip())
    if code in _CHANGED or status in (412, 416):
        return RangeRefused()
    if code in _ABSENT or status < 500:
        return Transient(reason) if status == 429 else Unavailable(reason)
    return Transient(reason)


def _read(stream: Any) -> bytes:
    from botocore.exceptions import BotoCoreError
    from urllib3.exceptions import HTTPError

    try:
        piece: bytes = stream.read(PIECE)
    except (BotoCoreError, HTTPError, OSError) as error:
        raise Transient(f"{type(error).__name__}: {scrub(str(error))}") from None
    return piece
