#include "gasmeter/run/real_endpoint.hpp"

#include "gasmeter/base/error.hpp"

namespace gasmeter::run {

RealEndpoint::RealEndpoint(launch::RankLink& link, const std::string& id, const Request& request, Bytes segment_bytes) {
  if (request.conduit->modelled) {
    throw UsageError("conduit " + request.conduit->name + " runs in virtual time, not on rank processes");
  }
  if (request.has_threads()) {
    throw UsageError("option 'threads=true': the endpoint of a program is used by one thread");
  }
  using Core = core::Endpoint<RealHost>;
  if (request.shares_memory()) {
    shared_.emplace(link, id, segment_bytes, launch::GiveBack::with_job);
    endpoint_ = std::make_unique<Core>(shared_->host(), shared_->view());
  } else {
    networked_.emplace(link, id, request, segment_bytes);
    ends_with_job_ = request.conduit->real->finish != nullptr;
    endpoint_ = std::make_unique<Core>(networked_->host<RealHost>(), networked_->view(), &networked_->conduit());
  }
  endpoint_->poll_at_injection(request.polls_at_injection());
  endpoint_->use(request.forms());
}

void RealEndpoint::close() {
  if (!networked_ || !ends_with_job_) return;
  endpoint_.reset();
  networked_.reset();
}

}  // namespace gasmeter::run
