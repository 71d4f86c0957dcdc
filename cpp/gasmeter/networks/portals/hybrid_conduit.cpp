#include "gasmeter/networks/portals/hybrid_conduit.hpp"

#include "gasmeter/services/card_ams.hpp"

namespace gasmeter::networks::portals {

using conduit::Delivery;
using conduit::PollFilter;

HybridConduit::HybridConduit(Portals& portals, sim::ModelHost host, std::uint32_t ranks, const PortalsOptions& options,
                             const PortalsMpiSizes& messages, SegmentBases& bases)
    : portals_(portals),
      host_(host),
      service_(portals, host, messages),
      messages_(make_ammpi(host, service_, ranks)),
      transfers_(portals, host, options, bases, done_),
      capabilities_(messages_->capabilities()) {
  capabilities_.native_put = true;
  capabilities_.native_get = true;
  capabilities_.max_transfer = transfers_.most_transfer();
  host_.price_misses({service_.miss().ps + portals_.parameters().eq_empty.ps});  // SAFE_EQ and the queues of MPI
}

void HybridConduit::attach(std::span<std::byte> segment) {
  transfers_.attach(segment, {});
  messages_->attach(segment);
}

void HybridConduit::forget(std::span<const std::byte> memory) {
  transfers_.forget(memory);
  messages_->forget(memory);
}

unsigned HybridConduit::poll(Delivery& sink, unsigned budget, PollFilter filter) {
  unsigned handed = done_.report(sink, budget);
  const bool more = transfers_.take_events(sink, budget, handed, [](const Event&) {});
  handed += messages_->poll(sink, budget - handed, filter);
  const bool news = transfers_.take_news() || more;
  return services::poll_result(handed, news);
}

void HybridConduit::add_to(conduit::Counts& counts) const {
  messages_->add_to(counts);
  transfers_.add_to(counts);
}

// The queues of the interface are counted once.
Bytes HybridConduit::reserved_bytes() const {
  return messages_->reserved_bytes() + transfers_.reserved_bytes();
}

}  // namespace gasmeter::networks::portals
