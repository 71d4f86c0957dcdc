// A network of this computer and its like: one rank's share of one job.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "gasmeter/bench/resolved.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/launch/rank_link.hpp"
#include "gasmeter/networks/network.hpp"

namespace gasmeter::networks {

// Every call is collective: what fails on one rank fails on every rank.
class RealNetwork {
 public:
  RealNetwork() = default;
  RealNetwork(const RealNetwork&) = delete;
  RealNetwork& operator=(const RealNetwork&) = delete;
  virtual ~RealNetwork() = default;  // collective, unless the job has ended

  // Memory of this rank that the network can read and write, zeroed; once, before connect(). `segment`: so many of the
  // bytes are what others may reach.
  [[nodiscard]] virtual std::byte* memory(Bytes bytes, Bytes segment) = 0;
  // The conduit of this rank, whose segment lies in that memory; it belongs to the network, which serves it while the
  // rank waits for its next command. Null: ranks share all memory and need none.
  [[nodiscard]] virtual conduit::Conduit* connect(std::span<std::byte> segment) = 0;
  // A kernel's program on the network's own interface instead, which has no conduit then. Null: the kernel has none.
  [[nodiscard]] virtual std::unique_ptr<Program> make_raw() = 0;
  // What options that leave a choice became, by their names.
  [[nodiscard]] virtual bench::Resolved resolved() const { return {}; }
};

struct RealJob {
  launch::RankLink& link;
  const std::string& id;  // of this measurement among those of the job
  const Settings& settings;
  bool stamps = false;  // a conduit is made with a StampedHost
};

struct RealEntry {
  NetworkInfo info;
  // Its conduits are neighbourhoods of all ranks: memory that they share, and no conduit object.
  bool shares_memory = false;
  bool spans_hosts = false;           // ranks of a job may stand on several
  const char* calls = "system call";  // what its conduit asks of the computer, as traces call it
  // Collective. The link outlives it; id and settings do not.
  std::unique_ptr<RealNetwork> (*open)(const RealJob&) = nullptr;
  // When the process ends, if it has to be told; does not throw.
  void (*finish)() = nullptr;
};

}  // namespace gasmeter::networks
