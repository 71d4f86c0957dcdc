#include "gasmeter/pgas/agreement.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include "gasmeter/base/real_host.hpp"
#include "gasmeter/core/incoming.hpp"
#include "gasmeter/core/library_handlers.hpp"
#include "gasmeter/core/word_halves.hpp"
#include "gasmeter/sim/engine/model_host.hpp"

namespace gasmeter::pgas {

using core::high;
using core::low;

template <class H>
Agreement<H>::Agreement(core::Endpoint<H>& endpoint)
    : endpoint_(endpoint), rounds_(static_cast<std::uint32_t>(std::bit_width(endpoint.ranks() - 1))) {
  core::internals(endpoint).handlers().add({core::spaces::kAgree, &on_told, this, "agreement of a shared space"});
}

template <class H>
void Agreement<H>::on_told(core::Token<H>& token) {
  const core::Incoming<H> message(token);
  message.expect_form(core::Category::short_message, core::Incoming<H>::Sent::request, 6);
  auto& self = token.template context_as<Agreement>();
  const std::uint32_t round = message.word(1);
  message.expect(round < self.rounds_, "an agreement has no such round");
  Told& notice = self.told_[message.word(0) % 2][round];
  message.expect(!notice.is_there, "this round of the agreement has been heard of");
  notice.values = {message.wide(2), message.wide(4)};
  std::atomic_ref(notice.is_there).store(true, std::memory_order_release);
}

template <class H>
Extremes Agreement<H>::meet(std::uint64_t value) {
  const std::uint32_t ranks = endpoint_.ranks();
  auto& notices = told_[meeting_ % 2];
  Extremes extremes{value, value};
  for (std::uint32_t round = 0; round < rounds_; ++round) {
    const std::uint32_t to =
        static_cast<std::uint32_t>((index(endpoint_.rank()) + (std::uint64_t{1} << round)) % ranks);
    (void)endpoint_.request_short(Rank{to}, core::spaces::kAgree, core::Flags::none,
                                  static_cast<std::int32_t>(meeting_), static_cast<std::int32_t>(round),
                                  low(extremes.least), high(extremes.least), low(extremes.most), high(extremes.most));
    Told& from = notices[round];
    endpoint_.wait_until([&from] { return std::atomic_ref(from.is_there).load(std::memory_order_acquire); });
    from.is_there = false;
    extremes = {std::min(extremes.least, from.values.least), std::max(extremes.most, from.values.most)};
  }
  ++meeting_;
  return extremes;
}

template class Agreement<RealHost>;
template class Agreement<ThreadedHost>;
template class Agreement<StampedHost>;
template class Agreement<sim::ModelHost>;

}  // namespace gasmeter::pgas
