import pytest

import saltus


@pytest.fixture(scope="session")
def ball():
    return saltus.builtin("bouncing_ball")


@pytest.fixture(scope="session")
def valve():
    return saltus.builtin("relief_valve")
