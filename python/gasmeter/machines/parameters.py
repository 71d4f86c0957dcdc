"""What a machine of each network is made of: the one list of parameters, as data.

A modelled network takes exactly these numbers. The kinds and their units stand in `gasmeter.units.QUANTITIES`; the
kind ``topology`` is text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["PARAMETERS", "TOPOLOGY", "Parameter"]

TOPOLOGY = "topology"
"""Key and kind of a machine's topology."""


class Parameter(NamedTuple):
    """One number of a machine."""

    key: str
    kind: str
    summary: str


# What hosts with a card and the links between them have in common.
_CARD = (
    Parameter(TOPOLOGY, TOPOLOGY, "how nodes are connected"),
    Parameter("ranks_per_node", "count", "cores of a node, one rank each"),
    Parameter("host.call", "time", "entering one operation of the library"),
    Parameter("host.header_build", "time", "packing a message header and its arguments"),
    Parameter("host.dispatch", "time", "handler table look-up and the call"),
    Parameter("host.poll_miss", "time", "a poll that finds nothing"),
    Parameter("host.update", "time", "one read-modify-write of a kernel on a random word of a table in memory"),
    Parameter("host.update_in_cache", "time", "likewise, of a table of at most host.cache"),
    Parameter("host.cache", "size", "of the caches that one core has for itself"),
    Parameter("host.copy_start", "time", "a copy from memory to memory, whatever its length"),
    Parameter("host.copy_bandwidth", "bandwidth", "a copy from memory to memory by one core"),
    Parameter("host.memory_bandwidth", "bandwidth", "memory of a whole node, shared by its cores"),
    Parameter("host.line_store", "time", "storing a cache line that another rank reads"),
    Parameter("host.line_transfer", "time", "loading a cache line that another rank or a device wrote"),
    Parameter("host.pio_start", "time", "a burst of write-combined stores to the card, whatever its length"),
    Parameter("host.pio_bandwidth", "bandwidth", "write-combined stores to the card"),
    Parameter("host.uncached_read", "time", "an uncached read of a register of the card"),
    Parameter("host.lock", "time", "taking and releasing a lock that is free"),
    Parameter("host.system_call", "time", "an empty system call"),
    Parameter("host.registration", "time", "registering memory with the card, whatever its length"),
    Parameter("host.registration_per_page", "time", "registering memory with the card, for each page"),
    Parameter("link.bandwidth", "bandwidth", "one link, in one direction"),
    Parameter("link.latency", "time", "one hop: router and wire"),
    Parameter("link.buffer", "count", "packets held by one input and virtual channel"),
    Parameter("link.header", "bytes", "added to each packet on the wire: framing, header, checksum"),
)

# What two-sided messages add to a card.
_TWO_SIDED = (
    Parameter("mpi.eager", "size", "two-sided messages of more bytes wait for their receive"),
    Parameter("mpi.software", "time", "a two-sided message at one side: request object, envelope, matching, progress"),
    Parameter("mpi.match_element", "time", "each element of a list that matching looks at"),
)

_EXTOLL = (
    *_CARD,
    Parameter("link.packet", "size", "largest payload of one packet"),
    Parameter("velo.payload", "size", "payload of one VELO packet"),
    Parameter("velo.mailbox_slots", "count", "slots of a mailbox"),
    Parameter("velo.send_pipeline", "time", "from the store burst to the packet's first byte on the link"),
    Parameter("velo.send_engine", "time", "the send unit is busy with one packet"),
    Parameter("velo.receive_engine", "time", "from the link to a status word that the host sees"),
    Parameter("velo.read_pointer_update", "count", "slots that are read before the read pointer is written back"),
    Parameter("rma.descriptor", "size", "a command as the host writes it"),
    Parameter("rma.notification", "size", "a notification in host memory"),
    Parameter("rma.requester", "time", "the requester is busy with one packet"),
    Parameter("rma.completer", "time", "the completer is busy with one packet"),
    Parameter("rma.responder", "time", "the responder is busy with one packet"),
    Parameter("rma.host_read", "time", "a read of host memory by the card"),
    Parameter("rma.notification_slots", "count", "slots of a notification queue"),
    *_TWO_SIDED,
)

_IBV = (
    *_CARD,
    Parameter("link.mtu", "size", "largest payload of one packet"),
    Parameter("hca.send_pipeline", "time", "from the doorbell to the packet's first byte on the link"),
    Parameter("hca.receive_pipeline", "time", "from the link to bytes that the host sees"),
    Parameter("hca.queue_pair", "time", "a queue pair is busy with one work request"),
    Parameter("hca.receive_completion", "time", "from a send's bytes at its target to the completion of its receive"),
    Parameter("hca.host_read", "time", "a read of host memory by the adapter"),
    Parameter("hca.descriptor", "size", "a work request as the host writes it"),
    Parameter("hca.inline_limit", "size", "payload that a work request may carry itself"),
    Parameter("hca.not_ready_timer", "time", "until a send goes again that found no receive"),
    *_TWO_SIDED,
    Parameter("mpi.deregistration", "time", "forgetting the memory that a long two-sided message was sent from"),
)

_IDEAL = (
    Parameter("host.call", "time", "entering one operation of the library"),
    Parameter("host.header_build", "time", "packing a message header and its arguments"),
    Parameter("host.dispatch", "time", "handler table look-up and the call"),
    Parameter("host.poll_miss", "time", "a poll that finds nothing"),
    Parameter("host.update", "time", "one read-modify-write of a kernel on a word of its own"),
    Parameter("host.copy_start", "time", "a copy from memory to memory, whatever its length"),
    Parameter("host.copy_bandwidth", "bandwidth", "a copy from memory to memory"),
    Parameter("host.line_store", "time", "storing a cache line that another rank reads"),
    Parameter("host.line_transfer", "time", "loading a cache line that another rank wrote"),
    Parameter("host.nic_post", "time", "handing one packet to the network (LogGP's o of the sender)"),
    Parameter("host.nic_take", "time", "taking one packet from the network (LogGP's o of the receiver)"),
    Parameter("nic.latency", "time", "from the last byte's leaving to its arrival (L)"),
    Parameter("nic.gap", "time", "pause of a NIC after a packet, on either side (g)"),
    Parameter("nic.bandwidth", "bandwidth", "bytes on the wire (1 / G)"),
    Parameter("nic.send_slots", "count", "packets of one rank that are prepared or have not left yet"),
    Parameter("nic.reply_slots", "count", "of these, kept for replies"),
)

_FABRIC = (
    Parameter(TOPOLOGY, TOPOLOGY, "how nodes are connected"),
    Parameter("ranks_per_node", "count", "ranks of a node"),
    Parameter("host.post", "time", "handing a put or fetch-and-add to the network interface"),
    Parameter("host.poll_miss", "time", "a poll that finds nothing"),
    Parameter("link.bandwidth", "bandwidth", "one link, in one direction"),
    Parameter("link.latency", "time", "one hop: router and wire"),
    Parameter("link.buffer", "count", "packets held by one input and virtual channel"),
)

_ETHERNET = (
    Parameter(TOPOLOGY, TOPOLOGY, "how nodes are connected"),
    Parameter("ranks_per_node", "count", "cores of a node, one rank each"),
    Parameter("host.call", "time", "entering one operation of the library"),
    Parameter("host.header_build", "time", "packing or reading a header and its arguments"),
    Parameter("host.dispatch", "time", "handler table look-up and the call"),
    Parameter("host.poll_miss", "time", "asking a socket that has nothing"),
    Parameter("host.update", "time", "one read-modify-write of a kernel on a random word of a table in memory"),
    Parameter("host.update_in_cache", "time", "likewise, of a table of at most host.cache"),
    Parameter("host.cache", "size", "of the caches that one core has for itself"),
    Parameter("host.copy_start", "time", "a copy from memory to memory, whatever its length"),
    Parameter(
        "host.copy_bandwidth", "bandwidth", "a copy from memory to memory by one core, between user and kernel too"
    ),
    Parameter("host.memory_bandwidth", "bandwidth", "memory of a whole node, shared by its cores"),
    Parameter("host.line_store", "time", "storing a cache line that another rank reads"),
    Parameter("host.line_transfer", "time", "loading a cache line that another rank wrote"),
    Parameter("host.caches_off", "count", "so many times as long takes all software with option caches=false"),
    Parameter("link.bandwidth", "bandwidth", "one link, in one direction"),
    Parameter("link.latency", "time", "one hop: half of a switch, and a cable"),
    Parameter("link.buffer", "count", "packets held by one input of a switch"),
    Parameter("link.frame", "size", "added to each packet on the wire"),
    Parameter("link.least_frame", "size", "of a packet on the wire at least, that included"),
    Parameter("link.mtu", "size", "largest packet, its IP header included"),
    Parameter("nic.pipeline", "time", "of a packet in both cards together, besides its time on the wire"),
    Parameter("nic.moderation", "time", "from a packet to the interrupt that tells of it"),
    Parameter("nic.ring", "count", "packets that wait for the kernel; more are lost"),
    Parameter("kernel.send", "time", "sendto of a datagram that is one packet, copy apart"),
    Parameter("kernel.fragment", "time", "sendto, for each packet more"),
    Parameter("kernel.interrupt", "time", "from the interrupt to the first look at a packet"),
    Parameter("kernel.input", "time", "protocol input of one packet"),
    Parameter("kernel.wake_up", "time", "waking a rank that sleeps in recvfrom, with option wait=sleep"),
    Parameter("kernel.receive", "time", "recvfrom of a datagram that waits, copy apart"),
    Parameter("kernel.send_buffer", "size", "of a socket: bytes that have not left"),
    Parameter("kernel.receive_buffer", "size", "of a socket: datagrams that wait; more are lost"),
)

PARAMETERS: Mapping[str, tuple[Parameter, ...]] = {
    "ethernet": _ETHERNET,
    "extoll": _EXTOLL,
    "fabric": _FABRIC,
    "ibv": _IBV,
    "ideal": _IDEAL,
    "ipoib": _ETHERNET,
}
"""Parameters by network, in the order they are listed."""
