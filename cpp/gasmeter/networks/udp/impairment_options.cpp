#include "gasmeter/networks/udp/impairment_options.hpp"

#include "gasmeter/base/random.hpp"

namespace gasmeter::networks::udp {

const std::vector<OptionInfo>& impairment_options() {
  static const std::vector<OptionInfo> all = {
      {"corrupt",
       "float",
       "0",
       "",
       {},
       "probability that a sent datagram has one bit turned, which UDP's checksum does not see; implies auth=payload"},
      {"delay_us", "float", "0", "us", {}, "delay added to every sent datagram"},
      {"dup", "float", "0", "", {}, "probability that a sent datagram arrives twice"},
      {"loss", "float", "0", "", {}, "probability that a sent datagram is lost; the point's seed decides which"},
      {"reorder", "float", "0", "", {}, "probability that later datagrams overtake a sent one"}};
  return all;
}

services::Impairment impairment_of(const Settings& settings, Rank self) {
  services::Impairment plan;
  plan.loss = settings.number("loss");
  plan.duplicate = settings.number("dup");
  plan.reorder = settings.number("reorder");
  plan.corrupt = settings.number("corrupt");
  plan.delay = SimTime::from_ns(settings.number("delay_us") * 1e3);
  plan.seed = settings.seed * kGoldenGamma + index(self);
  plan.check();
  return plan;
}

}  // namespace gasmeter::networks::udp
