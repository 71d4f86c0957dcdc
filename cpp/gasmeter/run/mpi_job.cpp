#include "gasmeter/run/mpi_job.hpp"

#include <chrono>
#include <cstring>

#include "gasmeter/base/error.hpp"
#include "gasmeter/run/exchange.hpp"
#include "gasmeter/run/mpi_process.hpp"
#include "gasmeter/run/real_job.hpp"

namespace gasmeter::run {

using networks::mpi::Library;
using networks::mpi::MpiConduit;

MpiJob::MpiJob(launch::RankLink& link, const kernels::Settings& settings, Bytes segment_bytes)
    : link_(link), host_(wait_mode(link)), layout_(core::NeighbourhoodLayout::of(1, segment_bytes)) {
  for (const std::string& blob : exchange_or_fail(link_, [&] {
         memory_ = std::make_unique<PrivateMemory>(layout_.total());
         const core::Segment own{memory_->data() + layout_.segment_at(0), segment_bytes};
         std::string text(sizeof own, '\0');
         std::memcpy(text.data(), &own, sizeof own);
         return text;
       })) {
    std::memcpy(&segments_.emplace_back(), blob.data(), sizeof(core::Segment));
  }
  Library& library = mpi_of_process(link_, settings);
  service_ = library.open_service();
  (void)exchange_or_fail(link_, [&] {
    conduit_ = std::make_unique<MpiConduit<RealHost>>(host_, *service_, link_.rank(), link_.size());
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
    }
  } catch (const Error&) {
    // The job is ending.
  }
  link_.forget_servant(servant_);
}

core::JobView MpiJob::view() const {
  return {link_.rank(), link_.size(), link_.rank(), layout_, memory_->data(), segments_};
}

RawMpiJob::RawMpiJob(launch::RankLink& link, const kernels::Settings& settings)
    : link_(link), host_(wait_mode(link)), messages_(mpi_of_process(link, settings).open_raw()) {}

kernels::RawMpi RawMpiJob::context() {
  return {*messages_, host_, link_.rank(), link_.size()};
}

}  // namespace gasmeter::run
