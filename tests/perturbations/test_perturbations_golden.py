"""Keyed sequences are those that stored datasets hold."""

from tests.corruptions import golden


def test_every_keyed_sequence_is_that_stored():
    made = list(golden.sequences())
    assert len(made) == 14 + 2 * 3
    message = golden.told("sequences", made)
    assert not message, message
