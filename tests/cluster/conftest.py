"""One cluster of two worker processes for all short tests; few rows that are taken for many."""

import logging

import pytest

pytest.importorskip("distributed")


def pytest_collection_modifyitems(items):
    """Sockets of workers that were killed are closed by nobody."""
    for item in items:
        if "tests/cluster/" in item.nodeid:
            for name in ("pytest.PytestUnraisableExceptionWarning", "ResourceWarning"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::{name}"))


@pytest.fixture(scope="package")
def many_of_few():
    """A thousand rows are many, here and in blocks of the workers."""
    from tests.cluster.small import make_many_of_few

    with pytest.MonkeyPatch.context() as patch:
        make_many_of_few(patch)
        yield


@pytest.fixture(scope="package")
def cluster(many_of_few):
    """A cluster of two processes over TCP, each with one thread."""
    from tests.cluster.small import local_cluster

    with local_cluster(2) as cluster:
        yield cluster


@pytest.fixture(scope="package")
def client(cluster):
    """Its client."""
    from tests.cluster.small import client_of_cluster

    with client_of_cluster(cluster) as client:
        yield client


@pytest.fixture(autouse=True)
def quiet():
    """Workers that tests kill leave pages in the log."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(before)


@pytest.fixture(scope="package")
def in_memory(many_of_few):
    """The fit of all rows in memory, with which those on a cluster are compared."""
    from tests.cluster.small import fitted, table

    return fitted(table())
