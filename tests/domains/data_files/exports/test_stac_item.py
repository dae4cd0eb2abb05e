"""Items of STAC are valid by its schemas, and pystac reads from them what was written."""

import hashlib
from datetime import UTC, datetime

import pytest
from hypothesis import given

from graph.domains.data_files.exports.stac_item import item_file, stac_item
from graph.domains.data_files.model import FileRevision
from graph.domains.data_files.references import Version
from tests.domains.data_files.exports.graphs import Graph, graphs
from tests.domains.data_files.exports.stac_judge import file, processing, read_item, version

REGISTERED = {"applicable-dates": [], "registered-at": "2024-01-05 12:00:00"}


@given(graphs())
def test_every_item_is_valid_and_pystac_reads_what_was_written(graph: Graph) -> None:
    for revision in graph.revisions:
        run = next((run for run in graph.runs if revision.version in run.generated), None)

        item = read_item(stac_item(revision, run))

        assert processing(item).level == revision.level
        assert processing(item).software == ({run.algorithm: run.version} if run and run.version else None)
        assert version(item).version == str(revision.number)
        assert bool(version(item).deprecated) == (revision.invalidated_at is not None)
        assert file(item).size == revision.size
        sources = [str(link.target) for link in item.get_links("derived_from")]
        assert sources == [item_file(source) for source in (run.used if run else [])]


@given(graphs())
def test_links_lead_to_the_items_of_other_versions(graph: Graph) -> None:
    items = {item_file(each.version): each for each in graph.revisions}

    assert len(items) == len(graph.revisions)
    for revision in graph.revisions:
        links = {link["rel"]: link["href"] for link in stac_item(revision)["links"]}
        before, behind = (Version(revision.name, revision.number + step) for step in (-1, 1))

        assert links.get("predecessor-version") == (item_file(before) if before in graph.by_version else None)
        assert links.get("successor-version") == (item_file(behind) if behind in graph.by_version else None)


@pytest.mark.parametrize("name", ["md5", "sha1", "sha256", "sha512"])
def test_a_checksum_is_a_multihash(name: str) -> None:
    digest = hashlib.new(name, b"photons", usedforsecurity=False)
    revision = FileRevision({"file-name": "rad.nc", "revision": 1, "checksum": digest.hexdigest(), **REGISTERED})

    multihash = bytes.fromhex(stac_item(revision)["assets"]["data"]["file:checksum"])

    codes = {"md5": b"\xd5\x01", "sha1": b"\x11", "sha256": b"\x12", "sha512": b"\x13"}
    assert multihash == codes[name] + bytes([digest.digest_size]) + digest.digest()


@pytest.mark.parametrize(
    ("attributes", "period", "times"),
    [
        ({}, None, ("2024-01-05T12:00:00Z", None, None)),
        ({"archive-time": "2024-01-02 00:00:00"}, None, ("2024-01-02T00:00:00Z", None, None)),
        (
            {"applicable-dates": ["2024-01-01", "2024-01-02"]},
            None,
            (None, "2024-01-01T00:00:00Z", "2024-01-02T23:59:59.999999Z"),
        ),
        (
            {"applicable-dates": ["2024-01-01"]},
            (datetime(2024, 1, 1, 3, tzinfo=UTC), datetime(2024, 1, 1, 5, 0, 0, 1, tzinfo=UTC)),
            (None, "2024-01-01T03:00:00Z", "2024-01-01T05:00:00.000001Z"),
        ),
    ],
)
def test_an_item_has_the_time_of_its_data(
    attributes: dict[str, object],
    period: tuple[datetime, datetime] | None,
    times: tuple[str | None, str | None, str | None],
) -> None:
    revision = FileRevision({"file-name": "rad.nc", "revision": 1, **REGISTERED, **attributes})

    item = stac_item(revision, period=period)

    read_item(item)
    names = ("datetime", "start_datetime", "end_datetime")
    assert tuple(item["properties"].get(name) for name in names) == times


@pytest.mark.parametrize(
    ("url", "href"),
    [
        ("s3://archive/2024/a%20b.nc?version=3", "s3://archive/2024/a%20b.nc?version=3"),
        ("s3://archive/a b/ü[1]#2 100%.nc", "s3://archive/a%20b/%C3%BC%5B1%5D%232%20100%25.nc"),
        ("urn:isbn:1", "urn:isbn:1"),
        ("http://host:8080/x", "http://host:8080/x"),
        ("http://host:x/y", "./http%3A%2F%2Fhost%3Ax%2Fy"),
        ("/data/a:b.nc", "./%2Fdata%2Fa%3Ab.nc"),
        (None, "./rad%3A1.nc"),
    ],
)
def test_a_file_is_where_its_url_says_or_beside_its_item(url: str | None, href: str) -> None:
    item = {"file-name": "rad:1.nc", "revision": 1, **({"url": url} if url else {}), **REGISTERED}

    assert read_item(stac_item(FileRevision(item))).assets["data"].href == href
