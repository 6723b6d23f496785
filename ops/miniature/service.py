"""The state of a running server: what it serves, how it is to fail, and what was asked of it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from ops.miniature.faults import Fault
from ops.miniature.upstream import MiniatureUpstream


@dataclass(frozen=True)
class Request:
    """One answered request; `bytes` counts the body bytes that were sent."""

    method: str
    path: str
    range: str | None
    status: int
    bytes: int


@dataclass
class MiniatureServer:
    """A running server.

    Attributes
    ----------
    upstream : MiniatureUpstream
        What is served.
    url : str
        Base address, without a slash at the end.
    faults : list of Fault
        Faults in force; may be changed while the server runs.
    rate : float or None
        Bytes a second of each connection; None for no limit.
    log : list of Request
        Answered requests in order.
    """

    upstream: MiniatureUpstream
    url: str = ""
    faults: list[Fault] = field(default_factory=list)
    rate: float | None = None
    log: list[Request] = field(default_factory=list)
    _seen: dict[int, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def overlay_url(self) -> str:
        """Address of the catalog overlay; the value for SHIFTLAKE_CATALOG."""
        return f"{self.url}/overlay.yaml"

    @property
    def bytes_served(self) -> int:
        """Body bytes sent so far."""
        return sum(request.bytes for request in self.log)

    def requests(self, path: str) -> list[Request]:
        """Return the answered requests for one path."""
        return [request for request in self.log if request.path == path]

    def inject(self, *faults: Fault) -> None:
        """Put faults in force; each counts its own matching requests from now on."""
        self.faults.extend(faults)

    def fault_for(self, path: str) -> Fault | None:
        """Count a request and return the first fault that meets it."""
        with self._lock:
            met = None
            for fault in self.faults:
                if not fault.concerns(path):
                    continue
                # By identity: two equal faults count their requests apart.
                self._seen[id(fault)] = nth = self._seen.get(id(fault), 0) + 1
                if met is None and fault.strikes(nth):
                    met = fault
            return met

    def record(self, request: Request) -> None:
        """Append to the log."""
        with self._lock:
            self.log.append(request)
