"""What this room's tests share."""

import pytest


@pytest.fixture(autouse=True, scope="package")
def one_thread():
    """Batches here are so small that torch's threads would mostly wait for each other."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
