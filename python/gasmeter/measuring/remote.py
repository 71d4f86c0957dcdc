"""Jobs whose ranks stand on several hosts: the job file, and its ranks.

A job file is JSON with the keys ``addresses`` (``HOST:PORT`` per rank; rank 0 listens on its own for the others),
``secret`` (32 hexadecimal digits that only the job's hosts know), ``measure`` (arguments of `gasmeter.measure` for rank
0) and ``patience_s``. Its owner alone may read it, since the secret admits any process to the job.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from gasmeter.catalogue import catalogue
from gasmeter.environment.installed import worker_binary
from gasmeter.errors import ResourceError, UsageError, first_mistake, said_of
from gasmeter.measuring.execution import Run, execute
from gasmeter.measuring.measurement import measurement
from gasmeter.measuring.probe import Probe
from gasmeter.measuring.runner import Runner
from gasmeter.measuring.sessions import Pool, WorkerPools
from gasmeter.measuring.workers import WorkerPool
from gasmeter.stores.result import Result

__all__ = ["JobFile", "create_job_file", "join", "lead", "read_job_file"]

_SECRET_BYTES = 16


class JobFile(BaseModel):
    """Content of a job file, the same on every host."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    addresses: tuple[str, ...] = Field(min_length=2, description="HOST:PORT of every rank, in rank order")
    secret: str = Field(pattern=rf"^[0-9a-fA-F]{{{2 * _SECRET_BYTES}}}$", description="32 hexadecimal digits")
    measure: Mapping[str, Any] = Field(default_factory=dict, description="arguments of gasmeter.measure")
    patience_s: int = Field(default=60, ge=1, le=3600, description="seconds until all ranks must have joined")

    @field_validator("addresses")
    @classmethod
    def _distinct(cls, addresses: tuple[str, ...]) -> tuple[str, ...]:
        for address in addresses:
            host, colon, port = address.rpartition(":")
            if not host or not colon or not port.isdecimal() or int(port) > 65535 or "," in address:
                raise ValueError(f"{address!r} is no address; HOST:PORT or [IPV6]:PORT, port 0..65535")
            if addresses.count(address) > 1:
                raise ValueError(f"{address!r} stands for two ranks; every rank has an address of its own")
        if addresses and addresses[0].endswith(":0"):
            raise ValueError(f"{addresses[0]!r}: rank 0 needs a port, the other ranks connect to it")
        return addresses


def read_job_file(path: str | Path) -> JobFile:
    """Read and check a job file.

    Raises UsageError if it does not exist, others can read it, or its content is not allowed.
    """
    try:
        mode = os.stat(path).st_mode
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text file"
        raise UsageError(
            f"job file {path}: {reason}; make one with `gasmeter rank --job FILE --create A0,A1`", str(path)
        ) from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UsageError(
            f"job file {path}: mode {stat.S_IMODE(mode):o} lets others read the secret; `chmod 600 {path}`", str(path)
        )
    try:
        content = json.loads(text)
        return JobFile.model_validate(content)
    except json.JSONDecodeError as error:
        raise UsageError(f"job file {path}: line {error.lineno}: {error.msg}; it has to be JSON", str(path)) from None
    except ValidationError as error:
        raise UsageError(f"job file {path}: {first_mistake(error, JobFile.model_fields)}", str(path)) from None


def create_job_file(path: str | Path, addresses: tuple[str, ...], measure: Mapping[str, Any]) -> JobFile:
    """Write a new job file with a fresh secret, readable by its owner alone; return its content.

    `addresses` holds ``HOST:PORT`` of every rank, `measure` the arguments of `gasmeter.measure`. Raises UsageError if
    the addresses are not allowed, the file exists, or it cannot be written.
    """
    content = {"addresses": addresses, "secret": secrets.token_hex(_SECRET_BYTES), "measure": dict(measure)}
    try:
        job = JobFile.model_validate(content)
    except ValidationError as error:
        raise UsageError(said_of(error.errors()[0]), ",".join(addresses)) from None
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise UsageError(
            f"job file {path}: {error.strerror}; name a new file in a folder you may write", str(path)
        ) from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.write("\n")
    return job


def _secret_descriptor(job: JobFile) -> int:
    """Return a descriptor that holds the secret: a command line would show it to every user of the host."""
    read, write = os.pipe()
    os.write(write, bytes.fromhex(job.secret))
    os.close(write)
    return read


def lead(job: JobFile) -> Result:
    """Run as rank 0: wait for the other ranks, measure as the file says, end the job; return the rows.

    Raises UsageError for a measurement that is not allowed, ResourceError if ranks do not come or the address cannot be
    used, BrokenJob if a rank is lost.
    """
    networks = [network.name for network in catalogue().networks.values() if network.spans_hosts]
    allowed = [name for name, conduit in catalogue().conduits.items() if conduit.network in networks]
    arguments = {"kernel": "ping-pong", "conduit": allowed[0], **job.measure}
    if "ranks" in arguments:
        raise UsageError("measure.ranks: the addresses say how many ranks there are", "ranks")
    try:
        experiment = measurement(**arguments, ranks=len(job.addresses))
    except TypeError as error:
        raise UsageError(f"measure: {error}; allowed are the arguments of gasmeter.measure", "measure") from None
    for conduit in (experiment.series[0].conduit, experiment.series[0].reference):
        for name in (conduit,) if isinstance(conduit, str) else conduit or ():
            if catalogue().conduit(name).network not in networks:
                raise UsageError(f"conduit {name!r} joins no hosts; allowed: {', '.join(allowed)}", name)

    def start(ranks: int, binary: Path | None) -> Pool:
        descriptor = _secret_descriptor(job)
        try:
            return WorkerPool(
                ranks,
                binary=binary,
                arguments=[
                    "--addresses", ",".join(job.addresses), "--secret-fd", str(descriptor),
                    "--patience", str(job.patience_s),
                ],
                inherited=[descriptor],
                start_timeout=job.patience_s + 30.0,
            )  # fmt: skip
        finally:
            os.close(descriptor)

    pools = WorkerPools(start)
    with Runner(pools) as runner:
        runner.probe = Probe(cores=1)  # ranks of several hosts share no cache line
        return execute(experiment, Run(runner=runner))


def join(job: JobFile, index: int) -> int:
    """Run as rank `index` (1 or more) until rank 0 ends the job; return the exit status, 0 after an orderly end.

    Raises ResourceError if the rank cannot be started.
    """
    descriptor = _secret_descriptor(job)
    try:
        return subprocess.run(
            [
                os.fspath(worker_binary()), "--join", "--rank", str(index), "--addresses", ",".join(job.addresses),
                "--secret-fd", str(descriptor), "--patience", str(job.patience_s),
            ],
            pass_fds=[descriptor],
            check=False,
        ).returncode  # fmt: skip
    except OSError as error:
        raise ResourceError(f"worker program cannot be run: {error.strerror}") from None
    finally:
        os.close(descriptor)
