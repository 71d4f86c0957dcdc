"""Jobs of several hosts: the job file, who may join, and ranks in network namespaces of their own."""

import contextlib
import csv
import importlib.util
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time

import pytest

from gasmeter.errors import UsageError
from gasmeter.measuring.remote import create_job_file, read_job_file

pytestmark = pytest.mark.timeout(240)
needs_core = pytest.mark.skipif(importlib.util.find_spec("gasmeter._core") is None, reason="needs the compiled core")
GASMETER = (sys.executable, "-m", "gasmeter")
SECRET = "00112233445566778899aabbccddeeff"
TWO = ["127.0.0.1:9000", "127.0.0.2:9000"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write(folder, content, mode=0o600):
    path = folder / "job.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    path.chmod(mode)
    return path


def start(path, index, prefix=()):
    command = [*prefix, *GASMETER, "rank", "--job", str(path), "--index", str(index), "--format", "csv"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(processes, seconds=120):
    outcomes = []
    for process in processes:
        try:
            out, err = process.communicate(timeout=seconds)
        finally:
            process.kill()
        outcomes.append((process.returncode, out, err))
    return outcomes


def test_created_file_is_private_and_complete(tmp_path):
    path = tmp_path / "job.json"
    created = create_job_file(path, tuple(TWO), {"op": "put"})
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_job_file(path) == created
    assert create_job_file(tmp_path / "other.json", tuple(TWO), {}).secret != created.secret
    with pytest.raises(UsageError, match="exists"):
        create_job_file(path, tuple(TWO), {})


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"addresses": TWO}, "secret"),
        ({"addresses": TWO, "secret": "12"}, "secret"),
        ({"addresses": [TWO[0], TWO[0]], "secret": SECRET}, "two ranks"),
        ({"addresses": ["127.0.0.1:0", TWO[1]], "secret": SECRET}, "rank 0 needs a port"),
        ({"addresses": ["127.0.0.1", TWO[1]], "secret": SECRET}, "HOST:PORT"),
        ({"addresses": TWO[:1], "secret": SECRET}, "addresses"),
        ({"addresses": TWO, "secret": SECRET, "hosts": 2}, "hosts"),
        ("{", "JSON"),
    ],
)
def test_wrong_files_are_refused_by_name(tmp_path, content, words):
    with pytest.raises(UsageError, match=words):
        read_job_file(write(tmp_path, content))


def test_file_that_others_can_read_is_refused(tmp_path):
    with pytest.raises(UsageError, match="chmod 600"):
        read_job_file(write(tmp_path, {"addresses": TWO, "secret": SECRET}, 0o644))
    with pytest.raises(UsageError, match="No such file"):
        read_job_file(tmp_path / "nothing.json")


@needs_core
def test_index_outside_the_list(tmp_path):
    path = write(tmp_path, {"addresses": TWO, "secret": SECRET})
    [(status, _, error)] = finish([start(path, 2)])
    assert status == 2
    assert "0..1" in error


@needs_core
def test_four_ranks_join_by_address(tmp_path):
    port = free_port()
    addresses = [f"127.0.0.{1 + rank}:{port}" for rank in range(4)]
    measure = {"kernel": "random-access", "sizes": "64K", "time": "0.1s"}
    path = write(tmp_path, {"addresses": addresses, "secret": SECRET, "measure": measure})
    outcomes = finish([start(path, rank) for rank in (3, 0, 2, 1)])
    assert [status for status, _, _ in outcomes] == [0] * 4, outcomes
    rows = list(csv.DictReader(io.StringIO(outcomes[1][1])))
    assert {row["ranks"] for row in rows} == {"4"}
    assert all(row["verified"] == "true" and row["network"] == "udp" for row in rows)
    assert [out for _, out, _ in (outcomes[0], *outcomes[2:])] == ["", "", ""]


@needs_core
def test_strangers_that_say_nothing_hold_nobody_up(tmp_path):
    port = free_port()
    addresses = [f"127.0.0.1:{port}", "127.0.0.2:0", "127.0.0.3:0"]
    measure = {"kernel": "ping-pong", "op": "put", "sizes": "8", "time": "0.1s"}
    path = write(tmp_path, {"addresses": addresses, "secret": SECRET, "measure": measure, "patience_s": 20})
    leader = start(path, 0)
    with contextlib.ExitStack() as strangers:
        while leader.poll() is None:
            with contextlib.suppress(ConnectionRefusedError):
                strangers.enter_context(socket.create_connection(("127.0.0.1", port)))
                break
        for _ in range(13):
            strangers.enter_context(socket.create_connection(("127.0.0.1", port)))
        outcomes = finish([leader, start(path, 1), start(path, 2)])
    assert [status for status, _, _ in outcomes] == [0] * 3, outcomes


class Meddler(threading.Thread):
    """Between rank 0 and another rank: turns a bit of what rank 0 sends behind the handshake."""

    HANDSHAKE_BYTES = 16 + 8

    def __init__(self, rank_0):
        super().__init__(daemon=True)
        self.rank_0 = rank_0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def run(self):
        with contextlib.suppress(OSError), self.listener:
            rank, leader = self.listener.accept()[0], self.connected()
            with rank, leader:
                back = threading.Thread(target=self.copy, args=(rank, leader), daemon=True)
                back.start()
                self.copy(leader, rank, turned=self.HANDSHAKE_BYTES + 6)
                back.join()

    def connected(self):
        while True:
            with contextlib.suppress(ConnectionRefusedError):
                return socket.create_connection(("127.0.0.1", self.rank_0))
            time.sleep(0.05)

    @staticmethod
    def copy(source, target, turned=None):
        passed = 0
        with contextlib.suppress(OSError):
            while data := bytearray(source.recv(65536)):
                if turned is not None and passed <= turned < passed + len(data):
                    data[turned - passed] ^= 1
                passed += len(data)
                target.sendall(data)
            target.shutdown(socket.SHUT_RDWR)


@needs_core
def test_link_that_somebody_changes_ends_the_job_in_one_line(tmp_path):
    port = free_port()
    measure = {"kernel": "ping-pong", "op": "put", "sizes": "8", "time": "0.1s"}
    content = {"addresses": [f"127.0.0.1:{port}", "127.0.0.2:0"], "secret": SECRET, "measure": measure}
    path = write(tmp_path, {**content, "patience_s": 30})
    meddler = Meddler(port)
    meddler.start()
    (tmp_path / "behind").mkdir()
    addresses = [f"127.0.0.1:{meddler.port}", "127.0.0.2:0"]
    behind = write(tmp_path / "behind", {**content, "addresses": addresses, "patience_s": 30})
    (status, _, error), (left, _, reason) = finish([start(path, 0), start(behind, 1)])
    assert (status, left) == (4, 4), (error, reason)
    assert "was changed, lost, repeated or moved on its way between the hosts" in reason
    for text in (error, reason):
        assert len(text.strip().splitlines()) == 1, text
    assert "rank 1" in error


@needs_core
def test_rank_with_another_secret_is_turned_away(tmp_path):
    addresses = [f"127.0.0.1:{free_port()}", "127.0.0.2:0"]
    path = write(tmp_path, {"addresses": addresses, "secret": SECRET, "patience_s": 4})
    other = tmp_path / "other"
    other.mkdir()
    stranger = write(other, {"addresses": addresses, "secret": SECRET[::-1], "patience_s": 4})
    (status, _, error), (refused, _, reason) = finish([start(path, 0), start(stranger, 1)])
    assert status == 3
    assert "missing: rank 1 (127.0.0.2:0); strangers that came: 1" in error
    assert refused == 3
    assert "another secret" in reason


@needs_core
def test_port_that_is_taken(tmp_path):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        address = f"127.0.0.1:{holder.getsockname()[1]}"
        path = write(tmp_path, {"addresses": [address, "127.0.0.2:0"], "secret": SECRET, "patience_s": 3})
        [(status, _, error)] = finish([start(path, 0)])
    assert status == 3
    assert address in error
    assert "choose another port" in error


@needs_core
def test_nobody_at_the_address(tmp_path):
    path = write(
        tmp_path, {"addresses": [f"127.0.0.1:{free_port()}", "127.0.0.2:0"], "secret": SECRET, "patience_s": 2}
    )
    [(status, _, error)] = finish([start(path, 1)])
    assert status == 3
    assert "cannot reach rank 0" in error


class Namespaces:
    """Hosts that are network namespaces, joined by a bridge."""

    def __init__(self, count, mtu):
        self.count, self.mtu = count, mtu

    def ip(self, *arguments):
        subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)

    def __enter__(self):
        mtu = ("mtu", str(self.mtu))
        try:
            self.ip("link", "add", "gmtest0", "type", "bridge")
            self.ip("link", "set", "gmtest0", "up", *mtu)
            for host in range(self.count):
                name, outer, inner = f"gmtest{host}", f"gmouter{host}", f"gminner{host}"
                self.ip("netns", "add", name)
                self.ip("link", "add", outer, *mtu, "type", "veth", "peer", "name", inner)
                self.ip("link", "set", inner, "netns", name)
                self.ip("link", "set", outer, "master", "gmtest0", "up", *mtu)
                self.ip("-n", name, "link", "set", "lo", "up")
                self.ip("-n", name, "addr", "add", f"10.213.77.{1 + host}/24", "dev", inner)
                self.ip("-n", name, "link", "set", inner, "up", *mtu)
        except (OSError, subprocess.CalledProcessError) as error:
            self.__exit__()
            pytest.skip(f"no network namespaces here: {getattr(error, 'stderr', error)}")
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            for host in range(self.count):
                subprocess.run(["ip", "netns", "del", f"gmtest{host}"], check=False, capture_output=True)
            subprocess.run(["ip", "link", "del", "gmtest0"], check=False, capture_output=True)


@needs_core
@pytest.mark.skipif(shutil.which("ip") is None or os.geteuid() != 0, reason="network namespaces need root and iproute2")
@pytest.mark.parametrize(("mtu", "hosts"), [(1500, 4), (9000, 2)])
def test_four_ranks_in_network_namespaces(tmp_path, mtu, hosts):
    addresses = [f"10.213.77.{1 + rank % hosts}:{9400 + rank}" for rank in range(4)]
    measure = {"kernel": "random-access", "sizes": "256K", "time": "0.1s"}
    path = write(tmp_path, {"addresses": addresses, "secret": SECRET, "measure": measure})
    with Namespaces(hosts, mtu):
        inside = [("ip", "netns", "exec", f"gmtest{rank % hosts}") for rank in range(4)]
        outcomes = finish([start(path, rank, inside[rank]) for rank in range(4)])
    assert [status for status, _, _ in outcomes] == [0] * 4, outcomes
    rows = list(csv.DictReader(io.StringIO(outcomes[0][1])))
    assert all(row["verified"] == "true" for row in rows)
    assert {row["value"] for row in rows if row["metric"] == "error_fraction"} == {"0.0"}
