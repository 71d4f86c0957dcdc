#include "gasmeter/run/mpi_job.hpp"

#include <sys/statvfs.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/available_memory.hpp"
#include "gasmeter/run/exchange.hpp"
#include "gasmeter/run/mpi_process.hpp"
#include "gasmeter/run/real_job.hpp"

namespace gasmeter::run {

using networks::mpi::Library;
using networks::mpi::MpiConduit;

namespace {

// An MPI that finds too little there may end the process.
Bytes free_window_memory() {
  struct statvfs facts{};
  const Bytes available = launch::available_memory();
  if (::statvfs("/dev/shm", &facts) != 0) return available;
  return std::min<Bytes>(available, Bytes{facts.f_bavail} * facts.f_frsize);
}

}  // namespace

MpiJob::MpiJob(launch::RankLink& link, const kernels::Settings& settings, Bytes segment_bytes)
    : link_(link), host_(wait_mode(link)), layout_(core::NeighbourhoodLayout::of(1, segment_bytes)) {
  Library& library = mpi_of_process(link_, settings);
  take_memory(library, settings);
  for (const std::string& blob : exchange_or_fail(link_, [&] {
         const core::Segment own{block() + layout_.segment_at(0), segment_bytes};
         std::string text(sizeof own, '\0');
         std::memcpy(text.data(), &own, sizeof own);
         return text;
       })) {
    std::memcpy(&segments_.emplace_back(), blob.data(), sizeof(core::Segment));
  }
  service_ = library.open_service();
  networks::mpi::MpiSettings chosen = networks::mpi::settings_of_real_mpi();
  if (window_ != nullptr && settings.text("rma") != "on") {
    chosen.largest_direct = window_->worthwhile();
    chosen.direct_atomics = window_->atomics_worthwhile();
  }
  (void)exchange_or_fail(link_, [&] {
    conduit_ =
        std::make_unique<MpiConduit<RealHost>>(host_, *service_, link_.rank(), link_.size(), chosen, window_.get());
    return std::string();
  });
  // While this rank waits for its next command peers may still lack what it sent last.
  servant_ = link_.add_servant({-1, [this] {
                                  conduit_->serve();
                                  return conduit_->is_quiet() ? kNever : host_.now();
                                }});
}

MpiJob::~MpiJob() {
  if (servant_ < 0) return;
  try {
    // Nothing may be on its way to receives that are about to end.
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

// A window's pages are small, a private segment's are large where the system has such: tables larger than this are
// better off without a window.
void MpiJob::take_memory(Library& library, const kernels::Settings& settings) {
  constexpr Bytes kLargestWindow = Bytes{64} << 20;
  const std::string& rma = settings.text("rma");
  bool wanted = rma == "on" || (rma == "auto" && layout_.segment_bytes <= kLargestWindow);
  if (wanted) {
    const std::vector<std::string> fits = exchange_or_fail(link_, [&] {
      const Bytes needed = layout_.total() * link_.size();
      const Bytes free = free_window_memory();
      if (needed > free && rma == "on") {
        throw ResourceError("option 'rma=on': windows of " + std::to_string(needed) + " bytes in all, /dev/shm has " +
                            std::to_string(free) + "; rma=auto sends messages");
      }
      return std::string(needed > free ? "" : "yes");
    });
    wanted = !fits.front().empty();
  }
  if (wanted) {
    (void)exchange_or_fail(link_, [&] {
      Library::OpenedWindow opened = library.open_window(layout_.total());
      if (opened.window == nullptr && rma == "on") {
        throw ResourceError("option 'rma=on': " + opened.why_not + " (" + library.version() +
                            "); rma=auto sends messages");
      }
      window_ = std::move(opened.window);
      return std::string();
    });
  }
  if (window_ != nullptr) return;
  (void)exchange_or_fail(link_, [&] {
    memory_ = std::make_unique<PrivateMemory>(layout_.total());
    return std::string();
  });
}

core::JobView MpiJob::view() const {
  return {link_.rank(), link_.size(), link_.rank(), layout_, block(), segments_};
}

RawMpiJob::RawMpiJob(launch::RankLink& link, const kernels::Settings& settings)
    : link_(link), host_(wait_mode(link)), messages_(mpi_of_process(link, settings).open_raw()) {}

kernels::RawMpi RawMpiJob::context() {
  return {*messages_, host_, link_.rank(), link_.size()};
}

}  // namespace gasmeter::run
