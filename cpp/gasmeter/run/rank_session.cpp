#include "gasmeter/run/rank_session.hpp"

#include "gasmeter/base/error.hpp"
#include "gasmeter/run/debug_spin.hpp"
#include "gasmeter/run/mpi_process.hpp"

namespace gasmeter::run {

RankSession::RankSession(launch::RankLink& link, std::string id, const Request& request)
    : link_(link), id_(std::move(id)) {
  std::string failure;
  try {
    if (request.is_raw()) {
      make_raw(request);
    } else if (!request.shares_memory()) {
      request.conduit->network == "mpi" ? make_mpi(request) : make_udp(request);
    } else if (request.settings.options.contains("threads") && request.settings.flag("threads")) {
      make(request, threaded_endpoint_, threaded_slow_, request.kernel->make_threaded);
    } else {
      make(request, endpoint_, slow_, request.kernel->make_real);
    }
  } catch (const BrokenJob&) {
    throw;
  } catch (const std::exception& error) {
    failure = error.what();
  }
  // Nobody starts before all are ready; what failed on one rank fails on all.
  std::uint32_t rank = 0;
  for (const std::string& theirs : link_.exchange(failure)) {
    if (!theirs.empty() && failure.empty()) failure = "rank " + std::to_string(rank) + ": " + theirs;
    ++rank;
  }
  if (!failure.empty()) throw UsageError(failure);
}

conduit::Counts RankSession::counts() {
  const conduit::Conduit* conduit = nullptr;
  if (udp_job_) conduit = &udp_job_->conduit();
  if (mpi_job_) conduit = &mpi_job_->conduit();
  conduit::Counts found;
  if (const auto* counting = dynamic_cast<const conduit::CountsItself*>(conduit)) counting->add_to(found);
  if (endpoint_) endpoint_->add_to(found);
  if (threaded_endpoint_) threaded_endpoint_->add_to(found);
  return found;
}

kernels::Resolved RankSession::resolved() const {
  kernels::Resolved found;
  if (auto* program = dynamic_cast<kernels::Resolves*>(program_.get())) found = program->resolved();
  if (mpi_job_ || raw_mpi_) found["mpi"] = name_of_mpi();
  if (mpi_job_) found["rma"] = mpi_job_->has_window() ? "on" : "off";
  return found;
}

void RankSession::make_raw(const Request& request) {
  const std::string& network = request.conduit->network;
  if (network == "mpi") return make_raw_mpi(request);
  if (network == "udp") return make_raw_udp(request);
  make_raw_shm(request);
}

void RankSession::make_udp(const Request& request) {
  udp_job_.emplace(link_, request.settings, request.kernel->plan(request.settings));
  endpoint_ = std::make_unique<core::Endpoint<RealHost>>(udp_job_->host(), udp_job_->view(), &udp_job_->conduit());
  program_ = request.kernel->make_real(*endpoint_, request.settings);
}

void RankSession::make_raw_udp(const Request& request) {
  if (request.kernel->make_raw_udp == nullptr) {
    throw UsageError("kernel " + request.settings.kernel + " has no raw variant on " + request.conduit->network);
  }
  raw_udp_.emplace(link_);
  program_ = request.kernel->make_raw_udp(raw_udp_->context(), request.settings);
}

void RankSession::make_mpi(const Request& request) {
  mpi_job_.emplace(link_, request.settings, request.kernel->plan(request.settings));
  endpoint_ = std::make_unique<core::Endpoint<RealHost>>(mpi_job_->host(), mpi_job_->view(), &mpi_job_->conduit());
  program_ = request.kernel->make_real(*endpoint_, request.settings);
}

void RankSession::make_raw_mpi(const Request& request) {
  if (request.kernel->make_raw_mpi == nullptr) {
    throw UsageError("kernel " + request.settings.kernel + " has no raw variant on " + request.conduit->network);
  }
  raw_mpi_.emplace(link_, request.settings);
  program_ = request.kernel->make_raw_mpi(raw_mpi_->context(), request.settings);
}

void RankSession::make_raw_shm(const Request& request) {
  if (request.kernel->make_raw_shm == nullptr) {
    throw UsageError("kernel " + request.settings.kernel + " has no raw variant on " + request.conduit->network);
  }
  using networks::shm::SharedMemory;
  const Bytes share = request.kernel->raw_plan(request.settings);
  std::byte* block = raw_.emplace(link_, id_, GiveBack::with_object).take(SharedMemory::footprint(link_.size(), share));
  raw_memory_ = std::make_unique<SharedMemory>(block, link_.rank(), link_.size(), share, wait_mode(link_));
  program_ = request.kernel->make_raw_shm({*raw_memory_}, request.settings);
}

template <class H>
void RankSession::make(const Request& request, std::unique_ptr<core::Endpoint<H>>& endpoint,
                       std::unique_ptr<core::SlowHandlers<H>>& slow, kernels::Maker<core::Endpoint<H>&> maker) {
  const Bytes segment_bytes = request.kernel->plan(request.settings);
  const bool is_smp = request.settings.options.contains("debug_spin");
  const double share = is_smp ? request.settings.number("debug_spin") : 0;
  // Measured before the kernel's own memory is there, so that it stays where it is without the option.
  const std::uint64_t steps = share != 0 ? steps_of_spin<H>(link_, id_ + "-spin", share) : 0;
  job_.emplace(link_, id_, segment_bytes, GiveBack::with_object);
  endpoint = std::make_unique<core::Endpoint<H>>(H(wait_mode(link_)), job_->view());
  program_ = maker(*endpoint, request.settings);
  if (steps != 0) slow = std::make_unique<core::SlowHandlers<H>>(*endpoint, steps);
}

}  // namespace gasmeter::run
