// What a benchmark kernel is: a description, a plan of the memory it needs, and one program per rank.
//
// A kernel is one file in this folder (its name plus .cpp) that defines `void register_<file name>(Registry&)`; CMake
// finds it. State is per rank: no statics, no thread_locals.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/sim/model_host.hpp"

namespace gasmeter::networks::shm {
class SharedMemory;
}
namespace gasmeter::networks::ideal {
class IdealNic;
}
namespace gasmeter::networks::fabric {
class BarePort;
}
namespace gasmeter::networks::extoll {
class ExtollPort;
}
namespace gasmeter::networks::ibv {
class IbvContext;
}
namespace gasmeter::networks::mpi {
class RawMessages;
}
namespace gasmeter::networks::udp {
class RawDatagrams;
}
namespace gasmeter::networks::ethernet {
class RawSocket;
}
namespace gasmeter::services {
class TwoSidedService;
}

namespace gasmeter::kernels {

struct MetricInfo {
  std::string name;            // latency, round_trip, bandwidth, rate, gups, overhead, error_fraction, speedup
  std::string unit;            // ns, B/s, 1/s, GUP/s, ratio
  std::string semantics;       // what "done" meant
  std::string in_memory = {};  // ... where memory that ranks share carries the operation; empty: the same
};

struct OpInfo {
  std::string name;
  std::string summary;
  std::vector<MetricInfo> metrics;  // the first is the main one
  bool sized = true;                // false: ignores the size; rows say 0
};

struct OptionInfo {
  std::string name;
  std::string type;  // bool, int, float, size, choice
  std::string default_value;
  std::string unit;
  std::vector<std::string> choices;
  std::string summary;
};

struct KernelInfo {
  std::string name;
  std::string summary;
  std::vector<OpInfo> ops;
  std::vector<std::string> variants;  // empty: the kernel has none; the first is the default
  std::vector<OptionInfo> options;
};

// One measurement as asked for, checked and complete.
struct Settings {
  std::string kernel;
  std::string op;
  std::string variant;
  Bytes size = 0;
  std::uint32_t ranks = 1;
  std::uint64_t seed = 0;
  std::map<std::string, std::string> options;  // every option of kernel and conduit, defaults filled in

  [[nodiscard]] bool flag(const std::string& name) const;
  [[nodiscard]] std::int64_t integer(const std::string& name) const;
  [[nodiscard]] double number(const std::string& name) const;
  [[nodiscard]] const std::string& text(const std::string& name) const;
};

// One timed block as rank 0 saw it.
struct BlockResult {
  SimTime elapsed;
  std::uint64_t operations = 0;
  std::vector<std::pair<std::string, double>> metrics;

  // The usual quotients of elapsed and operations.
  void add_time_per_operation(const std::string& metric);
  void add_rate();
  void add_bandwidth(Bytes bytes_per_operation);
};

struct Verification {
  std::uint64_t checked = 0;  // values this rank compared
  std::uint64_t errors = 0;   // of them wrong
  std::uint64_t allowed = 0;  // of them may be wrong by the benchmark's rules
};

// One rank's share of a kernel. Every call is collective: all ranks make the same calls in the same order. The
// constructor is not: it must not wait for other ranks, so that one that fails does not leave them waiting.
class Program {
 public:
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  virtual ~Program() = default;

  // A timed block; only rank 0's result counts.
  virtual BlockResult run(std::uint64_t iterations) = 0;
  // Untimed: sends real data through the measured path and compares it, or checks what the blocks since the last call
  // have left behind.
  virtual Verification verify() = 0;
};

// What a raw program of the machine's own memory gets.
struct RawShm {
  networks::shm::SharedMemory& memory;
};
// What a raw program of the toy network gets.
struct RawIdeal {
  networks::ideal::IdealNic& nic;
  sim::ModelHost host;
  Rank rank;
  std::uint32_t ranks;
};
// What a raw program on an EXTOLL card gets.
struct RawExtoll {
  networks::extoll::ExtollPort& port;
  sim::ModelHost host;
  Rank rank;
  std::uint32_t ranks;
};
// What a raw program on an InfiniBand adapter gets.
struct RawIbv {
  networks::ibv::IbvContext& context;
  sim::ModelHost host;
  Rank rank;
  std::uint32_t ranks;
};

// What a raw program on the fabric alone gets.
struct RawFabric {
  networks::fabric::BarePort& port;
  Rank rank;
  std::uint32_t ranks;
};

// What a raw program on UDP sockets gets, real or modelled.
template <class AnySocket>
struct RawSockets {
  using Socket = AnySocket;
  Socket& socket;
  Rank rank;
  std::uint32_t ranks;
  std::function<void()> barrier;  // slow, by another way than what is measured; outside what is timed
};
using RawUdp = RawSockets<networks::udp::RawDatagrams>;
using RawEthernet = RawSockets<networks::ethernet::RawSocket>;

// What a raw program over matched messages gets, in either kind of time.
template <class H>
struct RawTwoSided {
  services::TwoSidedService& service;
  H host;
  Rank rank;
  std::uint32_t ranks;
};

// What a raw program on an MPI gets.
struct RawMpi {
  networks::mpi::RawMessages& messages;
  RealHost host;
  Rank rank;
  std::uint32_t ranks;
};

template <class Context>
using Maker = std::unique_ptr<Program> (*)(Context, const Settings&);

// Bytes that every rank must offer: its segment, or its share of the raw memory.
using Plan = Bytes (*)(const Settings&);

struct Kernel {
  KernelInfo info;
  Plan plan = nullptr;
  Maker<core::Endpoint<RealHost>&> make_real = nullptr;
  Maker<core::Endpoint<ThreadedHost>&> make_threaded = nullptr;
  Maker<core::Endpoint<sim::ModelHost>&> make_model = nullptr;
  Plan raw_plan = nullptr;
  Maker<RawShm> make_raw_shm = nullptr;  // null: no raw variant on that network
  Maker<RawIdeal> make_raw_ideal = nullptr;
  Maker<RawFabric> make_raw_fabric = nullptr;
  Maker<RawExtoll> make_raw_extoll = nullptr;
  Maker<RawIbv> make_raw_ibv = nullptr;
  Maker<RawUdp> make_raw_udp = nullptr;
  Maker<RawEthernet> make_raw_ethernet = nullptr;  // and over InfiniBand
  Maker<RawMpi> make_raw_mpi = nullptr;
  Maker<RawTwoSided<sim::ModelHost>> make_raw_two_sided = nullptr;
  // What is measured is the simulation itself: a block's time is CPU time of this computer, its metrics are `rate`,
  // operations per second of that, and `memory_per_rank`, whatever its programs say.
  bool measures_simulation = false;
  // Throws UsageError for values that the option types cannot refuse.
  void (*check)(const Settings&) = nullptr;

  [[nodiscard]] std::vector<std::string> raw_networks() const;
};

// A kernel whose program is the template P<Host>.
template <template <class> class P>
Kernel kernel_of(KernelInfo info, Plan plan) {
  Kernel kernel;
  kernel.info = std::move(info);
  kernel.plan = plan;
  kernel.make_real = [](core::Endpoint<RealHost>& endpoint, const Settings& settings) -> std::unique_ptr<Program> {
    return std::make_unique<P<RealHost>>(endpoint, settings);
  };
  kernel.make_threaded = [](core::Endpoint<ThreadedHost>& endpoint,
                            const Settings& settings) -> std::unique_ptr<Program> {
    return std::make_unique<P<ThreadedHost>>(endpoint, settings);
  };
  kernel.make_model = [](core::Endpoint<sim::ModelHost>& endpoint,
                         const Settings& settings) -> std::unique_ptr<Program> {
    return std::make_unique<P<sim::ModelHost>>(endpoint, settings);
  };
  return kernel;
}

class Registry {
 public:
  // Registers the kernels of this folder.
  static Registry with_all_kernels();

  void add(Kernel kernel);
  [[nodiscard]] const Kernel* find(const std::string& name) const;
  [[nodiscard]] const std::vector<Kernel>& kernels() const { return kernels_; }  // sorted by name

 private:
  std::vector<Kernel> kernels_;
};

}  // namespace gasmeter::kernels
