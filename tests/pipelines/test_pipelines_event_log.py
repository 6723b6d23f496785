"""The event log: no entry is lost where several are written at less cost."""

import uuid
from pathlib import Path

import dagster as dg
import pytest

from assets import log_lines
from assets.log_lines import gathered
from pipelines.event_log import kept_open
from pipelines.stages import QUIET, Stage


@dg.op
def speak(context: dg.OpExecutionContext) -> None:
    for number in range(20):
        context.log.info(f"line {number}")


@dg.job
def speaking() -> None:
    speak()


def test_a_run_whose_log_is_kept_open_has_every_entry_in_a_file_of_its_own(tmp_path):
    run_id = str(uuid.uuid4())
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        with kept_open(instance, run_id):
            speaking.execute_in_process(instance=instance, run_id=run_id, run_config=QUIET)
            file = Path(instance.event_log_storage.path_for_shard(run_id))
            # SQLite removes it with the last connection.
            assert file.with_name(f"{file.name}-wal").exists()
        assert not file.with_name(f"{file.name}-wal").exists()
        said = [entry.user_message for entry in instance.all_logs(run_id)]
        assert [text for text in said if text.startswith("line ")] == [
            f"line {number}" for number in range(20)
        ]


def test_an_instance_without_files_needs_nothing_kept_open():
    with dg.DagsterInstance.ephemeral() as instance, kept_open(instance, str(uuid.uuid4())):
        assert speaking.execute_in_process(instance=instance, run_config=QUIET).success


def test_lines_in_quick_succession_are_one_entry_and_none_is_lost():
    entries = []
    with gathered(entries.append) as log:
        for number in range(5):
            log(f"line {number}")
        assert entries == ["line 0"]
    assert entries == ["line 0", "line 1\nline 2\nline 3\nline 4"]


def test_lines_are_told_when_the_work_fails_and_while_it_takes_long(monkeypatch):
    entries = []
    monkeypatch.setattr(log_lines, "_SECONDS", 0.0)
    with gathered(entries.append) as log:
        log("first")
        log("second")
        assert entries == ["first", "second"]
    monkeypatch.setattr(log_lines, "_SECONDS", 60.0)

    def fail():
        with gathered(entries.append) as log:
            log("third")
            log("fourth")
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fail()
    assert entries == ["first", "second", "third", "fourth"]


def test_a_stage_is_named_by_what_it_makes():
    assert Stage("results").name == "results"
    assert Stage("frame_sets", partition="mine").name == "frame_sets mine"
    assert Stage("imagenet_c", partitions=("fog", "snow")).name == "imagenet_c fog … snow"
    both = Stage("evaluate", partitions=("imagenet_a|one", "imagenet_r|one"))
    assert both.name == "evaluate imagenet_a … imagenet_r with one"
