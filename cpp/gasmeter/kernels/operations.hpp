// What kernels ask of an endpoint, with faults planted where a test build wants them (bench/mutants.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "gasmeter/base/error.hpp"
#include "gasmeter/bench/mutants.hpp"
#include "gasmeter/bench/settings.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/negotiated.hpp"

namespace gasmeter::kernels {

// A Medium with fewer `arguments` may be larger; of a kernel whose ranks 0 and 1 alone exchange them.
template <class H>
void require_size(core::Endpoint<H>& endpoint, const bench::Settings& settings, bool medium, bool long_message,
                  unsigned arguments = conduit::kMaxArguments) {
  Bytes most = medium ? endpoint.max_medium() : endpoint.max_long();
  if (medium && arguments < conduit::kMaxArguments) {
    if (index(endpoint.rank()) >= 2) return;
    const Rank peer{1 - index(endpoint.rank())};
    most = std::min(endpoint.max_request_medium(peer, arguments), endpoint.max_reply_medium(peer, arguments));
  }
  if ((medium || long_message) && settings.size > most) {
    throw UsageError("kernel " + settings.kernel + ", op " + settings.op + ": size " + std::to_string(settings.size) +
                     " B exceeds the largest " + (medium ? "Medium" : "Long") + " payload of " + std::to_string(most) +
                     " B here");
  }
}

// An endpoint as a kernel asks it for what is timed.
template <class H>
class PlantedEndpoint {
 public:
  using Event = core::Event;
  using Flags = core::Flags;
  using LocalCompletion = core::LocalCompletion;

  PlantedEndpoint(core::Endpoint<H>& endpoint) : real_(endpoint) {}
  operator core::Endpoint<H>&() const { return real_; }

  // What is as it is.
  [[nodiscard]] Rank rank() const { return real_.rank(); }
  [[nodiscard]] std::uint32_t ranks() const { return real_.ranks(); }
  [[nodiscard]] H& host() const { return real_.host(); }
  [[nodiscard]] const core::Segment& segment() const { return real_.segment(); }
  [[nodiscard]] const core::Segment& segment(Rank rank) const { return real_.segment(rank); }
  [[nodiscard]] void* map(Rank rank, const void* address) const { return real_.map(rank, address); }
  unsigned poll() const { return real_.poll(); }
  void barrier() const { real_.barrier(); }
  [[nodiscard]] bool test(Event& event) const { return real_.test(event); }
  void wait(Event& event) const { real_.wait(event); }
  void wait_all(std::span<Event> events) const { real_.wait_all(events); }
  void wait_nbi(core::EventSet set = core::EventSet::all) const { real_.wait_nbi(set); }
  template <class Done>
  void wait_until(Done&& done) const {
    real_.wait_until(done);
  }
  [[nodiscard]] core::Prepared<H> prepare_medium(Rank to, const void* client, Bytes least, Bytes most,
                                                 unsigned arguments) const {
    return real_.prepare_medium(to, client, least, most, arguments);
  }

  template <class... Words>
  Status request_short(Rank to, HandlerIndex handler, Flags flags, Words... words) const {
    const bench::Mutant mutant = bench::mutants::next(sizeof...(words) != 0);
    if (mutant == bench::Mutant::drop) return Status::ok;
    if (mutant == bench::Mutant::repeat) (void)real_.request_short(to, handler, flags, words...);
    [[maybe_unused]] const int change = mutant == bench::Mutant::corrupt    ? 1
                                        : mutant == bench::Mutant::misplace ? 256
                                                                            : 0;
    return real_.request_short(to, handler, flags, (words ^ change)...);
  }
  template <class... Words>
  Status request_medium(Rank to, HandlerIndex handler, const void* from, Bytes bytes, Flags flags,
                        Words... words) const {
    const bench::Mutant mutant = bench::mutants::next();
    if (mutant == bench::Mutant::drop) return Status::ok;
    const void* const data = bench::mutants::changed(mutant, from, bytes);
    if (mutant == bench::Mutant::repeat) (void)real_.request_medium(to, handler, data, bytes, flags, words...);
    return real_.request_medium(to, handler, data, bytes, flags, words...);
  }
  template <class... Words>
  Status request_long(Rank to, HandlerIndex handler, const void* from, Bytes bytes, void* there, Flags flags,
                      Words... words) const {
    const bench::Mutant mutant = bench::mutants::next();
    if (mutant == bench::Mutant::drop) return Status::ok;
    const void* const data = bench::mutants::changed(mutant, from, bytes);
    if (mutant == bench::Mutant::repeat) (void)real_.request_long(to, handler, data, bytes, there, flags, words...);
    return real_.request_long(to, handler, data, bytes, there, flags, words...);
  }
  void put(Rank rank, void* to, const void* from, Bytes bytes) const {
    const bench::mutants::Transfer part = bench::mutants::transfer(bytes);
    if (!part.dropped) real_.put(rank, part.target(to), part.source(from), part.bytes);
  }
  void get(Rank rank, void* to, const void* from, Bytes bytes) const {
    const bench::mutants::Transfer part = bench::mutants::transfer(bytes);
    if (!part.dropped) real_.get(rank, part.target(to), part.source(from), part.bytes);
  }
  Event put_nb(Rank rank, void* to, const void* from, Bytes bytes, LocalCompletion local) const {
    const bench::mutants::Transfer part = bench::mutants::transfer(bytes);
    if (!part.dropped) return real_.put_nb(rank, part.target(to), part.source(from), part.bytes, local);
    local.complete_now();
    return Event::done();
  }
  Status put_nbi(Rank rank, void* to, const void* from, Bytes bytes) const {
    const bench::mutants::Transfer part = bench::mutants::transfer(bytes);
    return part.dropped ? Status::ok : real_.put_nbi(rank, part.target(to), part.source(from), part.bytes);
  }
  Status get_nbi(Rank rank, void* to, const void* from, Bytes bytes) const {
    const bench::mutants::Transfer part = bench::mutants::transfer(bytes);
    return part.dropped ? Status::ok : real_.get_nbi(rank, part.target(to), part.source(from), part.bytes);
  }

 private:
  core::Endpoint<H>& real_;
};

// What kernels keep of the endpoint they are made for; the endpoint itself where nothing is planted.
template <class H>
using Operations = std::conditional_t<bench::kMutants, PlantedEndpoint<H>, core::Endpoint<H>&>;

}  // namespace gasmeter::kernels
