#include "gasmeter/run/rank_session.hpp"

#include "gasmeter/launch/exchange.hpp"
#include "gasmeter/launch/host_page.hpp"
#include "gasmeter/run/debug_spin.hpp"

namespace gasmeter::run {

RankSession::RankSession(launch::RankLink& link, std::string id, const Request& request)
    : link_(link), id_(std::move(id)), lowered_(request.settings.lowered) {
  // No rank starts before all are ready; an error on one rank is thrown on all.
  (void)launch::exchange_or_fail(link_, [&] {
    if (request.stamps) {
      make_stamped(request);
    } else if (request.is_raw()) {
      make_raw(request);
    } else if (!request.shares_memory()) {
      make_networked(request, endpoint_, request.kernel->make_real);
    } else if (request.has_threads()) {
      make(request, threaded_endpoint_, threaded_slow_, request.kernel->make_threaded);
    } else {
      make(request, endpoint_, slow_, request.kernel->make_real);
    }
    return std::string();
  });
  told_ = launch::share_page(link_);
  if (told_.data() != nullptr) {
    static_assert(launch::kPageHead + sizeof(bench::ToldLines) <= launch::kPageBytes);
    program_->tell_by(reinterpret_cast<bench::ToldLines*>(told_.data() + launch::kPageHead));
  }
}

conduit::Counts RankSession::counts() {
  conduit::Counts counts;
  if (networked_) {
    if (const auto* counting = dynamic_cast<const conduit::CountsItself*>(&networked_->conduit())) {
      counting->add_to(counts);
    }
  }
  if (endpoint_) endpoint_->add_to(counts);
  if (threaded_endpoint_) threaded_endpoint_->add_to(counts);
  if (stamped_endpoint_) stamped_endpoint_->add_to(counts);
  if (const auto* counting = dynamic_cast<const conduit::CountsItself*>(program_.get())) counting->add_to(counts);
  return counts;
}

bench::Resolved RankSession::resolved() const {
  bench::Resolved resolved = lowered_;
  if (auto* program = dynamic_cast<bench::Resolves*>(program_.get())) resolved.merge(program->resolved());
  if (networked_) resolved.merge(networked_->network().resolved());
  if (raw_) resolved.merge(raw_->resolved());
  return resolved;
}

void RankSession::make_raw(const Request& request) {
  request.require_raw();
  raw_ = request.conduit->real->open({link_, id_, request.settings});
  program_ = raw_->make_raw();
}

template <class H>
void RankSession::make_networked(const Request& request, std::unique_ptr<core::Endpoint<H>>& endpoint,
                                 bench::Maker<core::Endpoint<H>&> maker) {
  networked_.emplace(link_, id_, request, request.kernel->plan(request.settings));
  endpoint = std::make_unique<core::Endpoint<H>>(networked_->host<H>(), networked_->view(), &networked_->conduit());
  endpoint->poll_at_injection(request.polls_at_injection());
  endpoint->use(request.forms());
  program_ = maker(*endpoint, request.settings);
}

void RankSession::make_stamped(const Request& request) {
  if (request.shares_memory()) {
    make(request, stamped_endpoint_, stamped_slow_, request.kernel->make_stamped);
  } else {
    make_networked(request, stamped_endpoint_, request.kernel->make_stamped);
  }
}

template <class H>
void RankSession::make(const Request& request, std::unique_ptr<core::Endpoint<H>>& endpoint,
                       std::unique_ptr<core::SlowHandlers<H>>& slow, bench::Maker<core::Endpoint<H>&> maker) {
  const Bytes segment_bytes = request.kernel->plan(request.settings);
  const bool is_smp = request.settings.options.contains("debug_spin");
  const double share = is_smp ? request.settings.number("debug_spin") : 0;
  // The spin is measured before the kernel's memory is made, so that this memory lies where it does without the option.
  const std::uint64_t steps = share != 0 ? steps_of_spin<H>(link_, id_ + "-spin", share) : 0;
  job_.emplace(link_, id_, segment_bytes, launch::GiveBack::with_object);
  endpoint = std::make_unique<core::Endpoint<H>>(H(launch::wait_mode(link_)), job_->view());
  endpoint->poll_at_injection(request.polls_at_injection());
  endpoint->use(request.forms());
  program_ = maker(*endpoint, request.settings);
  if (steps != 0) slow = std::make_unique<core::SlowHandlers<H>>(*endpoint, steps);
}

}  // namespace gasmeter::run
