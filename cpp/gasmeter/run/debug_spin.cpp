#include "gasmeter/run/debug_spin.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/core/slow_handlers.hpp"
#include "gasmeter/run/neighbours.hpp"

namespace gasmeter::run {
namespace {

constexpr double kMostShare = 10.0;
constexpr double kBlockNs = 60e3;
constexpr unsigned kPairs = 12;       // pairs of blocks, without and with the spin
constexpr unsigned kCorrections = 4;  // each from kPairs pairs
constexpr std::uint64_t kMostRoundTrips = 1024;
constexpr std::uint64_t kStepsTimed = 1 << 18;
constexpr double kHandlersPerRoundTrip = 2;

// Ping-pong of Shorts between ranks 0 and 1 (a single rank plays with itself), while the others wait.
template <class H>
class RoundTrips {
 public:
  explicit RoundTrips(core::Endpoint<H>& endpoint) : endpoint_(endpoint), peer_(Rank{endpoint.ranks() > 1 ? 1U : 0U}) {
    std::array<core::HandlerEntry<H>, 3> entries{
        {{{}, &on_ping, this, "ping"}, {{}, &on_pong, this, "pong"}, {{}, &on_stop, this, "stop"}}};
    endpoint.register_handlers(entries);
    ping_ = entries[0].index;
    pong_ = entries[1].index;
    stop_ = entries[2].index;
  }
  RoundTrips(const RoundTrips&) = delete;
  RoundTrips& operator=(const RoundTrips&) = delete;

  // Return the nanoseconds of one round trip, on rank 0; 0 on other ranks. Collective.
  double ns(std::uint64_t iterations) {
    stopped_ = false;
    endpoint_.barrier();
    double round_trip = 0;
    if (endpoint_.rank() == Rank{0}) {
      const SimTime start = endpoint_.host().now();
      for (std::uint64_t i = 0; i < iterations; ++i) {
        answered_ = false;
        (void)endpoint_.request_short(peer_, ping_, core::Flags::none);
        endpoint_.wait_until([this] { return answered_; });
      }
      round_trip = (endpoint_.host().now() - start).ns() / static_cast<double>(iterations);
      (void)endpoint_.request_short(peer_, stop_, core::Flags::none);
    }
    if (endpoint_.rank() == peer_) endpoint_.wait_until([this] { return stopped_; });
    endpoint_.barrier();
    return round_trip;
  }

 private:
  static void on_ping(core::Token<H>& token) { (void)token.reply_short(token.template context_as<RoundTrips>().pong_); }
  static void on_pong(core::Token<H>& token) { token.template context_as<RoundTrips>().answered_ = true; }
  static void on_stop(core::Token<H>& token) { token.template context_as<RoundTrips>().stopped_ = true; }

  core::Endpoint<H>& endpoint_;
  Rank peer_;
  HandlerIndex ping_{};
  HandlerIndex pong_{};
  HandlerIndex stop_{};
  bool answered_ = false;
  bool stopped_ = false;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <class H>
double ns_of_a_step(H& host) {
  std::vector<double> samples;
  for (int i = 0; i < 5; ++i) {
    const SimTime start = host.now();
    core::spin_for(kStepsTimed);
    samples.push_back((host.now() - start).ns() / static_cast<double>(kStepsTimed));
  }
  return *std::min_element(samples.begin(), samples.end());
}

// Return rank 0's value, on every rank.
std::uint64_t from_first(launch::RankLink& link, std::uint64_t value) {
  return std::stoull(link.exchange(std::to_string(value)).front());
}

}  // namespace

template <class H>
std::uint64_t steps_of_spin(launch::RankLink& link, const std::string& id, double share) {
  if (!(share >= 0) || share > kMostShare) {
    throw UsageError("debug_spin=" + std::to_string(share) + "; allowed: 0 to 10, a share of the round trip");
  }
  Neighbours job(link, id, 0, launch::GiveBack::with_object);
  core::Endpoint<H> endpoint(H(wait_mode(link)), job.view());
  RoundTrips<H> trips(endpoint);
  (void)trips.ns(16);  // touches the pages
  std::vector<double> tried(5);
  for (double& round_trip : tried) round_trip = trips.ns(64);
  const double usual = median(tried);
  const std::uint64_t iterations = from_first(
      link, static_cast<std::uint64_t>(std::clamp(kBlockNs / std::max(usual, 1.0), 8.0, double{kMostRoundTrips})));
  const double per_step_ns = kHandlersPerRoundTrip * ns_of_a_step(endpoint.host());
  // Slower handlers cost a call besides their steps, and a processor hides a part of a spin behind other waits. The
  // added time is therefore measured and corrected, in pairs of blocks that the machine's drift affects alike.
  const double first = share * usual / per_step_ns;
  // However disturbed the machine is, the spin stays near the size that was asked for.
  const double most = 2 * first + kHandlersPerRoundTrip / per_step_ns;
  auto steps = static_cast<double>(from_first(link, static_cast<std::uint64_t>(first)));
  for (unsigned correction = 0; correction < kCorrections; ++correction) {
    std::vector<double> without;
    std::vector<double> added;
    for (unsigned pair = 0; pair < kPairs; ++pair) {
      const double plain = trips.ns(iterations);
      const core::SlowHandlers<H> slow(endpoint, static_cast<std::uint64_t>(steps));
      added.push_back(trips.ns(iterations) - plain);
      without.push_back(plain);
    }
    const double lacking = share * median(without) - median(added);
    const double better = std::clamp(steps + lacking / per_step_ns, 0.0, most);
    steps = static_cast<double>(from_first(link, static_cast<std::uint64_t>(std::lround(better))));
  }
  return static_cast<std::uint64_t>(steps);
}

template std::uint64_t steps_of_spin<RealHost>(launch::RankLink& link, const std::string& id, double share);
template std::uint64_t steps_of_spin<ThreadedHost>(launch::RankLink& link, const std::string& id, double share);
template std::uint64_t steps_of_spin<StampedHost>(launch::RankLink& link, const std::string& id, double share);

}  // namespace gasmeter::run
