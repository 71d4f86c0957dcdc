#include "gasmeter/run/conduits.hpp"

#include <algorithm>

#include "gasmeter/base/error.hpp"
#include "gasmeter/sim/fibre.hpp"

namespace gasmeter::run {

namespace {

using kernels::OptionInfo;

const OptionInfo kThreads{"threads", "int", "1", "threads", {}, "at most so many simulate; never changes a result"};

const OptionInfo kMpi{"mpi",
                      "choice",
                      "auto",
                      "",
                      {"auto", "openmpi", "mpich"},
                      "which MPI; auto: the one gasmeter was built with, openmpi before mpich"};

const OptionInfo kTransport{"transport",
                            "choice",
                            "auto",
                            "",
                            {"auto", "tcp"},
                            "what carries an MPI's messages; auto: what it takes itself, memory on one host; tcp: the "
                            "loopback interface"};

const OptionInfo kRma{"rma",
                      "choice",
                      "auto",
                      "",
                      {"auto", "on", "off"},
                      "puts and gets by MPI-3 one-sided calls; auto: where segments of up to 64 MiB are in memory that "
                      "all ranks share, for sizes at which this MPI is faster so; off: by messages"};

const OptionInfo kHostNeighbourhood{
    "neighbourhood", "bool", "false", "", {}, "ranks of one host use shared memory between them"};

const OptionInfo kNodeLocalMessages{
    "node_local",       "choice",
    "shared",           "",
    {"shared", "loop"}, "messages between ranks of one node: through its memory, or looped through its card"};

// What every conduit in virtual time has besides `own`.
std::vector<OptionInfo> with_virtual_time(std::vector<OptionInfo> own) {
  std::vector<std::string> makers;
  for (const sim::FibreMaker maker : sim::available_makers()) makers.emplace_back(sim::name(maker));
  makers.emplace(makers.begin(), sim::name(sim::FibreMaker::automatic));
  own.push_back({"fibres", "choice", "automatic", "", makers, "how virtual ranks are made; never changes a result"});
  own.push_back({"sync",
                 "choice",
                 "lazy",
                 "",
                 {"lazy", "strict"},
                 "strict synchronises before every price; never changes a result"});
  std::sort(own.begin(), own.end(), [](const OptionInfo& a, const OptionInfo& b) { return a.name < b.name; });
  return own;
}

// What conduits over modelled sockets have; `raw`: without the library.
std::vector<OptionInfo> with_sockets(bool raw) {
  std::vector<OptionInfo> own = {
      {"caches", "bool", "true", "", {}, "false: the processors' caches are switched off, as in an old experiment"},
      {"wait", "choice", "spin", "", {"spin", "sleep"}, "what a rank does that waits for a datagram"},
      kThreads};
  if (!raw) {
    const std::vector<OptionInfo> more = {
        {"corrupt", "float", "0", "", {}, "probability that a sent datagram has one bit turned"},
        {"datagram", "int", "0", "B", {}, "the largest; 0: one packet (window), or the largest of UDP's (amudp)"},
        {"delay_us", "float", "0", "us", {}, "delay added to every sent datagram"},
        {"dup", "float", "0", "", {}, "probability that a sent datagram arrives twice"},
        {"loss", "float", "0", "", {}, "probability that a sent datagram is lost; the point's seed decides which"},
        {"neighbourhood", "bool", "false", "", {}, "ranks of one node use shared memory between them"},
        {"protocol", "choice", "window", "", {"window", "amudp"}, "amudp: the classic scheme of 2003 to 2016"},
        {"reorder", "float", "0", "", {}, "probability that later datagrams overtake a sent one"}};
    own.insert(own.end(), more.begin(), more.end());
  }
  return with_virtual_time(std::move(own));
}

}  // namespace

const std::vector<ConduitInfo>& conduits() {
  static const std::vector<ConduitInfo> all = {
      {"smp",
       "a neighbourhood of all ranks over POSIX shared memory",
       "shm",
       false,
       {{"debug_spin",
         "float",
         "0",
         "ratio",
         {},
         "debug: handlers spin so that an active message's round trip takes this share longer, to test guards with"},
        {"threads", "bool", "false", "", {}, "an endpoint that several threads may call (locks on every path)"}}},
      {"raw@shm", "the memory itself, without the library", "shm", false, {}},
      {"udp",
       "exactly-once messages, puts and gets over this host's UDP sockets",
       "udp",
       false,
       {{"auth",
         "choice",
         "header",
         "",
         {"header", "payload"},
         "what a datagram's keyed hash covers: all but the payload of large transfers, or all of it"},
        {"corrupt",
         "float",
         "0",
         "",
         {},
         "probability that a sent datagram has one bit turned, which UDP's checksum does not see; implies "
         "auth=payload"},
        {"delay_us", "float", "0", "us", {}, "delay added to every sent datagram"},
        {"dup", "float", "0", "", {}, "probability that a sent datagram arrives twice"},
        {"loss", "float", "0", "", {}, "probability that a sent datagram is lost; the point's seed decides which"},
        {"mtu", "int", "0", "B", {}, "of the path, headers of IP and UDP included; 0: that of the interface"},
        kHostNeighbourhood,
        {"offload", "bool", "true", "", {}, "UDP_SEGMENT, UDP_GRO, sendmmsg, recvmmsg; false: one datagram per call"},
        {"protocol",
         "choice",
         "window",
         "",
         {"window", "amudp"},
         "amudp: the classic scheme of 2003 to 2016, one message per datagram, its reply the acknowledgement"},
        {"reorder", "float", "0", "", {}, "probability that later datagrams overtake a sent one"}}},
      {"raw@udp", "one unconnected UDP socket a rank, without the library", "udp", false, {}},
      {"mpi",
       "active messages over matched messages of a real MPI, puts and gets by its one-sided calls",
       "mpi",
       false,
       {kMpi, kHostNeighbourhood, kTransport, kRma}},
      {"raw@mpi", "the MPI's own sends and receives, without the library", "mpi", false, {kMpi, kTransport}},
      {"ideal", "a toy modelled network with LogGP costs, in exact virtual time", "ideal", true,
       with_virtual_time(
           {{"neighbourhood", "bool", "false", "", {}, "ranks of one node use shared memory between them"},
            {"nodes", "int", "2", "nodes", {}, "nodes that the ranks are spread over, in rank order"}})},
      {"raw@ideal", "the toy network's interface, without a conduit", "ideal", true,
       with_virtual_time({{"nodes", "int", "2", "nodes", {}, "nodes that the ranks are spread over, in rank order"}})},
      {"extoll", "active messages over the VELO and RMA units of modelled EXTOLL cards", "extoll", true,
       with_virtual_time(
           {{"am",
             "choice",
             "2",
             "",
             {"1", "2"},
             "active messages of the early (1) or the improved (2) implementation"},
            {"lock",
             "choice",
             "am",
             "",
             {"am", "packet", "message", "none"},
             "what the lock of active messages is taken for; am: as option am says (packet, message)"},
            {"neighbourhood", "bool", "false", "", {}, "ranks of one node use shared memory for everything"},
            {"node_local",
             "choice",
             "shared",
             "",
             {"shared", "loop"},
             "active messages between ranks of one node: through its memory, or looped through its card"},
            {"outstanding",
             "int",
             "0",
             "messages",
             {},
             "requests under way to a rank of another node until it has handled some; 0: any number, its card holds "
             "them"},
            {"receive",
             "choice",
             "am",
             "",
             {"am", "copy", "in-place"},
             "packets are copied out of their slots, or messages of one used there; am: copy, in-place"},
            {"sections",
             "choice",
             "am",
             "",
             {"am", "apart", "packed"},
             "header, arguments and payload in packets of their own, or sharing them; am: apart, packed"},
            {"send_poll",
             "choice",
             "am",
             "",
             {"am", "on", "off"},
             "the mailbox is looked at before each packet that is sent; am: on, off"},
            kThreads})},
      {"raw@extoll", "EXTOLL cards in their own words: VELO packets and RMA commands", "extoll", true,
       with_virtual_time({kThreads})},
      {"ibv", "active messages by sends with credits, put and get by RDMA, over modelled InfiniBand adapters", "ibv",
       true,
       with_virtual_time(
           {{"atomics",
             "choice",
             "card",
             "",
             {"card", "messages"},
             "card: adapters do atomics of domains that use nothing but get, add, sub, inc, dec and cas (or their "
             "fetching forms) on 64-bit integers; messages: a handler of the target's rank does all"},
            {"neighbourhood", "bool", "false", "", {}, "ranks of one node use shared memory for everything"},
            kThreads})},
      {"raw@ibv", "InfiniBand verbs: queue pairs, sends, RDMA writes and reads", "ibv", true,
       with_virtual_time({kThreads})},
      {"udp@ethernet", "the udp conduit over modelled sockets and Ethernet", "ethernet", true, with_sockets(false)},
      {"raw@ethernet", "one modelled UDP socket a rank, without the library", "ethernet", true, with_sockets(true)},
      {"udp@ibv", "the udp conduit over modelled sockets and IP over InfiniBand", "ipoib", true, with_sockets(false)},
      {"raw@ipoib", "one modelled UDP socket a rank over InfiniBand, without the library", "ipoib", true,
       with_sockets(true)},
      {"mpi@extoll",
       "the mpi conduit over two-sided messages (tag matching, eager, rendezvous) on modelled EXTOLL cards", "extoll",
       true,
       with_virtual_time(
           {{"neighbourhood", "bool", "false", "", {}, "ranks of one node use shared memory for everything"},
            kNodeLocalMessages,
            kThreads})},
      {"raw@mpi@extoll", "two-sided messages on modelled EXTOLL cards, without a conduit: what the papers call MPI",
       "extoll", true, with_virtual_time({kNodeLocalMessages, kThreads})},
      {"mpi@ibv", "the mpi conduit over two-sided messages on modelled InfiniBand adapters", "ibv", true,
       with_virtual_time(
           {{"neighbourhood", "bool", "false", "", {}, "ranks of one node use shared memory for everything"},
            kNodeLocalMessages,
            kThreads})},
      {"raw@mpi@ibv", "two-sided messages on modelled InfiniBand adapters, without a conduit", "ibv", true,
       with_virtual_time({kNodeLocalMessages, kThreads})},
      {"raw@fabric", "links and routers alone, for the kernel that measures the simulation itself", "fabric", true,
       with_virtual_time({kThreads})},
  };
  return all;
}

const ConduitInfo& find_conduit(const std::string& name) {
  std::string known;
  for (const ConduitInfo& conduit : conduits()) {
    if (conduit.name == name) return conduit;
    known += (known.empty() ? "" : ", ") + conduit.name;
  }
  throw UsageError("conduit '" + name + "' is unknown; known: " + known);
}

}  // namespace gasmeter::run
