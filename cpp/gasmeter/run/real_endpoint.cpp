#include "gasmeter/run/real_endpoint.hpp"

#include "gasmeter/base/error.hpp"

namespace gasmeter::run {

RealEndpoint::RealEndpoint(launch::RankLink& link, const std::string& id, const Request& request, Bytes segment_bytes) {
  if (request.conduit->modelled) {
    throw UsageError("conduit " + request.conduit->name + " runs in virtual time, not on rank processes");
  }
  if (request.settings.options.contains("threads") && request.settings.flag("threads")) {
    throw UsageError("option 'threads=true': the endpoint of a program is used by one thread");
  }
  make(link, id, request, segment_bytes);
}

void RealEndpoint::close() {
  if (!mpi_) return;
  endpoint_.reset();
  mpi_.reset();
}

void RealEndpoint::make(launch::RankLink& link, const std::string& id, const Request& request, Bytes segment_bytes) {
  using Core = core::Endpoint<RealHost>;
  const std::string& network = request.conduit->network;
  if (request.shares_memory()) {
    shared_.emplace(link, id, segment_bytes, GiveBack::with_job);
    endpoint_ = std::make_unique<Core>(shared_->host(), shared_->view());
  } else if (network == "mpi") {
    mpi_.emplace(link, request.settings, segment_bytes);
    endpoint_ = std::make_unique<Core>(mpi_->host(), mpi_->view(), &mpi_->conduit());
  } else {
    udp_.emplace(link, request.settings, segment_bytes);
    endpoint_ = std::make_unique<Core>(udp_->host(), udp_->view(), &udp_->conduit());
  }
}

}  // namespace gasmeter::run
