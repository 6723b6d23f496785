"""Verdicts as JUnit XML, which continuous integration shows as test cases."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any
from xml.etree import ElementTree

# Of the classes and images of a failure, as many as fit a log.
_NAMED = 10


def junit(rows: Iterable[dict[str, Any]], *, strict: bool = False) -> str:
    """One suite a gate and candidate, one case a number.

    Parameters
    ----------
    rows : iterable of dict
        Rows of the schema ``GATE``, in their order.
    strict : bool
        Whether an inconclusive verdict is a failure; else it is a case that passes and says so.

    Returns
    -------
    str
        An XML document. ``fail`` is a failure, ``missing`` an error, ``waived`` is skipped.
    """
    suites = ElementTree.Element("testsuites", name="shiftlake gate")
    for (gate, candidate), group in groupby(rows, key=lambda row: (row["gate"], row["candidate"])):
        suite = ElementTree.SubElement(suites, "testsuite", name=f"{gate}: {candidate}")
        own = list(group)
        counts = dict.fromkeys(("failures", "errors", "skipped"), 0)
        for row in own:
            case = ElementTree.SubElement(
                suite,
                "testcase",
                classname=f"{gate}.{candidate}",
                name=f"{row['benchmark']}/{row['condition']} {row['metric']} ({row['variant']})",
                time="0",
            )
            verdict, text = row["verdict"], _said(row)
            if verdict == "fail" or (strict and verdict == "inconclusive"):
                counts["failures"] += 1
                attributes = {"message": row["reason"], "type": verdict}
                ElementTree.SubElement(case, "failure", attributes).text = text
            elif verdict == "missing":
                counts["errors"] += 1
                attributes = {"message": row["reason"], "type": verdict}
                ElementTree.SubElement(case, "error", attributes).text = text
            elif verdict == "waived":
                counts["skipped"] += 1
                ElementTree.SubElement(case, "skipped", {"message": row["reason"]})
            else:
                ElementTree.SubElement(case, "system-out").text = text
        suite.set("tests", str(len(own)))
        for name, count in counts.items():
            suite.set(name, str(count))
        suite.set("time", "0")
    for name in ("tests", "failures", "errors", "skipped"):
        suites.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _said(row: dict[str, Any]) -> str:
    lines = [f"{row['verdict']}: {row['reason']}", f"baseline: {row['baseline']}"]
    for each in (row["flipped_classes"] or [])[:_NAMED]:
        name = each["name"] or f"class {each['class_index']}"
        lines.append(
            f"class: {name}, lost {each['lost']} and gained {each['gained']} of {each['n']}"
        )
    lines += [f"image: {key}" for key in (row["flipped_samples"] or [])[:_NAMED]]
    lines += [f"environment: {change}" for change in row["environment_changes"] or []]
    return "\n".join(lines)
