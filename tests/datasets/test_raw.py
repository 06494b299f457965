import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch_geometric.datasets

from graphsct import DataError
from graphsct.datasets import CATALOG, load, raw


@pytest.fixture
def server(real, monkeypatch):
    """The public sources on this machine; Cornell's features are served as they are today."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            name = Path(self.path).name
            folder = self.path.split("/")[2] if "new_data" in self.path else name.split("_")[0]
            if folder == "cornell" and name == "out1_node_feature_label.txt":
                folder = "texas"
            found = [path for path in real.rglob(name) if path.parent.name in ("raw", "Actor")]
            if len(found) > 1:
                found = [path for path in found if folder in path.parts]
            if len(found) != 1:
                self.send_error(404)
                return
            content = found[0].read_bytes()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_):
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever)
    thread.start()
    url = f"http://127.0.0.1:{httpd.server_port}"
    monkeypatch.setattr(torch_geometric.datasets.WebKB, "url", url)
    monkeypatch.setattr(torch_geometric.datasets.WikipediaNetwork, "processed_url", url)
    monkeypatch.setattr(torch_geometric.datasets.Coauthor, "url", url + "/")
    monkeypatch.setattr(torch_geometric.datasets.Planetoid, "url", url)
    monkeypatch.setattr(torch_geometric.datasets.HeterophilousGraphDataset, "url", url)
    yield url
    httpd.shutdown()
    httpd.server_close()
    thread.join()


@pytest.mark.parametrize("name", ["texas", "chameleon", "physics", "cora", "minesweeper", "actor"])
def test_download_through_pyg_into_the_root(name, server, tmp_path):
    root = tmp_path / "root"
    entry = CATALOG[name]
    found = raw.download(entry, root)
    assert [file.path for file in found] == [root / entry.folder / file for file in entry.raw]
    assert {file.state for file in raw.look(entry, root)} == {"ok"}
    assert not list(root.glob(".*.tmp"))


def test_download_into_the_cache_if_the_root_cannot_be_written(server, cache, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert load("texas", blocked).graph.num_nodes == 183
    assert (cache / "WebKB/texas/raw/out1_graph_edges.txt").is_file()


def test_cornell_as_it_is_served_today_is_refused_and_does_not_stay(server, tmp_path):
    with pytest.raises(DataError, match="is Texas's file under Cornell's name"):
        load("cornell", tmp_path)
    assert not list(tmp_path.rglob("*.txt"))
    served = load("cornell_as_served", tmp_path)
    assert served.y.equal(load("texas", tmp_path).y)
    # kept as what it is, so that Cornell's place stays free for the right file
    assert (tmp_path / "WebKB/texas/raw/out1_node_feature_label.txt").is_file()
    assert not (tmp_path / "WebKB/cornell/raw/out1_node_feature_label.txt").exists()


def test_a_missing_file_on_the_server_is_named(server, tmp_path, monkeypatch):
    monkeypatch.setattr(torch_geometric.datasets.WebKB, "url", server + "/new_data/nowhere")
    with pytest.raises(DataError, match=r"could not be downloaded \(HTTP Error 404"):
        load("wisconsin", tmp_path)


def test_a_file_that_vanished_is_named(tmp_path):
    entry = CATALOG["texas"]
    with pytest.raises(DataError, match=r"out1_node_feature_label.txt is missing, one of Texas's"):
        raw.check(entry, raw.look(entry, tmp_path))


def test_what_another_process_downloaded_is_not_downloaded_again(server, tmp_path, monkeypatch):
    first = raw.download(CATALOG["texas"], tmp_path)
    monkeypatch.setattr(torch_geometric.datasets.WebKB, "url", "http://127.0.0.1:9")
    assert raw.download(CATALOG["texas"], tmp_path) == first
