// Interface of a network that runs in real time: one rank's share of one job.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "gasmeter/bench/resolved.hpp"
#include "gasmeter/conduit/conduit.hpp"
#include "gasmeter/launch/rank_link.hpp"
#include "gasmeter/networks/network.hpp"

namespace gasmeter::networks {

// Every call is collective: an error of one rank fails on every rank.
class RealNetwork {
 public:
  RealNetwork() = default;
  RealNetwork(const RealNetwork&) = delete;
  RealNetwork& operator=(const RealNetwork&) = delete;
  virtual ~RealNetwork() = default;  // collective, unless the job has ended

  // Return zeroed memory of this rank that the network can read and write. Called once, before connect(). Peers may
  // reach `segment` of the bytes.
  [[nodiscard]] virtual std::byte* memory(Bytes bytes, Bytes segment) = 0;
  // Return the conduit of this rank, whose segment lies in that memory. The network owns it and serves it while the
  // rank waits for its next command. Null: ranks share all memory and need no conduit.
  [[nodiscard]] virtual conduit::Conduit* connect(std::span<std::byte> segment) = 0;
  // Make the raw program of the kernel. The network then has no conduit. Null: the kernel has no raw program.
  [[nodiscard]] virtual std::unique_ptr<Program> make_raw() = 0;
  // Values that the network chose for options that left a choice, by option name.
  [[nodiscard]] virtual bench::Resolved resolved() const { return {}; }
};

struct RealJob {
  launch::RankLink& link;
  const std::string& id;  // identifies this measurement within the job
  const Settings& settings;
  bool stamps = false;  // true: the conduit uses a StampedHost
};

struct RealEntry {
  NetworkInfo info;
  // True if all ranks form one neighbourhood: shared memory carries everything, and there is no conduit object.
  bool shares_memory = false;
  bool spans_hosts = false;           // ranks of a job may run on several hosts
  const char* calls = "system call";  // name that traces give to its requests to this computer
  // Collective. The link outlives the network. The id and settings do not.
  std::unique_ptr<RealNetwork> (*open)(const RealJob&) = nullptr;
  // Called when the process ends; does not throw. Null: nothing to do.
  void (*finish)() = nullptr;
};

}  // namespace gasmeter::networks
