#include "gasmeter/networks/mpi/real_mpi.hpp"

#include <sys/statvfs.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/available_memory.hpp"
#include "gasmeter/launch/exchange.hpp"
#include "gasmeter/launch/wait_mode.hpp"
#include "gasmeter/networks/mpi/ammpi_conduit.hpp"
#include "gasmeter/networks/mpi/mpi_conduit.hpp"
#include "gasmeter/networks/mpi/mpi_process.hpp"
#include "gasmeter/networks/mpi/protocol_options.hpp"
#include "gasmeter/networks/mpi/raw/programs.hpp"

namespace gasmeter::networks::mpi {
namespace {

using launch::exchange_or_fail;

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

// Return the free memory for windows. Some MPIs end the process if there is too little.
Bytes free_window_memory() {
  struct statvfs facts{};
  const Bytes available = launch::available_memory();
  if (::statvfs("/dev/shm", &facts) != 0) return available;
  return std::min<Bytes>(available, Bytes{facts.f_bavail} * facts.f_frsize);
}

}  // namespace

RealMpi::RealMpi(const RealJob& job)
    : link_(job.link),
      settings_(job.settings),
      stamps_(job.stamps),
      host_(launch::wait_mode(job.link)),
      library_(mpi_of_process(job.link, job.settings)) {}

RealMpi::~RealMpi() {
  if (servant_ < 0) return;
  try {
    // Wait until no message is on its way to receives that are about to end.
    if (!link_.ended()) {
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
      while (!conduit_->is_quiet() && std::chrono::steady_clock::now() < deadline) conduit_->serve();
      link_.barrier();
      for (int i = 0; i < 100; ++i) conduit_->serve();
      if (window_ != nullptr) window_->close();
    }
  } catch (const Error&) {
    // The job is ending.
  }
  link_.forget_servant(servant_);
}

// Return the rank's memory. A window has small pages, but a private segment has large ones if the system offers them.
// Tables above this size are therefore faster without a window.
std::byte* RealMpi::memory(Bytes bytes, Bytes segment) {
  constexpr Bytes kLargestWindow = Bytes{64} << 20;
  const std::string& rma = settings_.text("rma");
  const bool wanted = rma == "on" || (rma == "auto" && segment <= kLargestWindow);
  ammpi_depth_ = ammpi_depth(settings_);
  if (ammpi_depth_ && rma == "on") {
    throw UsageError("option 'rma=on': only of protocol=gathered; AMMPI puts and gets by messages");
  }
  if (wanted && !ammpi_depth_) open_window(bytes);
  if (window_ != nullptr) return window_->memory();
  (void)exchange_or_fail(link_, [&] {
    memory_ = std::make_unique<launch::OwnMemory>(bytes);
    return std::string();
  });
  return memory_->data();
}

void RealMpi::open_window(Bytes bytes) {
  const std::string& rma = settings_.text("rma");
  const std::vector<std::string> fits = exchange_or_fail(link_, [&] {
    const Bytes needed = bytes * link_.size();
    const Bytes free = free_window_memory();
    if (needed > free && rma == "on") {
      throw ResourceError("option 'rma=on': windows of " + std::to_string(needed) + " bytes in all, /dev/shm has " +
                          std::to_string(free) + "; rma=auto sends messages");
    }
    return std::string(needed > free ? "" : "yes");
  });
  if (fits.front().empty()) return;
  (void)exchange_or_fail(link_, [&] {
    Library::OpenedWindow opened = library_.open_window(bytes);
    if (opened.window == nullptr && rma == "on") {
      throw ResourceError("option 'rma=on': " + opened.why_not + " (" + library_.version() +
                          "); rma=auto sends messages");
    }
    window_ = std::move(opened.window);
    return std::string();
  });
}

conduit::Conduit* RealMpi::connect(std::span<std::byte> /*segment*/) {
  service_ = library_.open_service();
  (void)exchange_or_fail(link_, [&] {
    conduit_ = stamps_ ? make_conduit(StampedHost(launch::wait_mode(link_))) : make_conduit(host_);
    return std::string();
  });
  // Peers may still lack this rank's last messages while it waits for its next command.
  servant_ = link_.add_servant({-1, [this] {
                                  conduit_->serve();
                                  return conduit_->is_quiet() ? kNever : host_.now();
                                }});
  return conduit_.get();
}

template <class H>
std::unique_ptr<TwoSidedConduit> RealMpi::make_conduit(H host) {
  if (ammpi_depth_) return std::make_unique<AmmpiConduit<H>>(host, *service_, link_.size(), *ammpi_depth_);
  MpiSettings chosen = settings_of_real_mpi();
  if (window_ != nullptr && settings_.text("rma") != "on") {
    chosen.largest_direct = window_->worthwhile();
    chosen.direct_atomics = window_->atomics_worthwhile();
  }
  return std::make_unique<MpiConduit<H>>(host, *service_, link_.rank(), link_.size(), chosen, window_.get());
}

std::unique_ptr<Program> RealMpi::make_raw() {
  raw_ = library_.open_raw();
  return networks::make_raw<raw::Context>(raw::programs(), {*raw_, host_, link_.rank(), link_.size()}, settings_);
}

bench::Resolved RealMpi::resolved() const {
  bench::Resolved resolved{{"mpi", name_of_mpi()}};
  if (conduit_ != nullptr) resolved["rma"] = window_ != nullptr ? "on" : "off";
  return resolved;
}

std::vector<OptionInfo> RealMpi::options() {
  std::vector<OptionInfo> all = protocol_options();
  all.insert(all.begin(), {kMpi, kTransport, kRma});
  return all;
}

std::vector<OptionInfo> RealMpi::raw_options() {
  return {kMpi, kTransport};
}

}  // namespace gasmeter::networks::mpi
