#include "gasmeter/networks/fabric/link_options.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "gasmeter/base/error.hpp"

namespace gasmeter::networks::fabric {
namespace {

// Return an option's value. Throws UsageError unless it is a number of 0..most.
double limited(const Settings& settings, const std::string& name, double most) {
  const double value = settings.number(name);
  if (value >= 0 && value <= most) return value;
  throw UsageError("option '" + name + "=" + settings.text(name) + "': allowed are 0.." +
                   std::to_string(static_cast<std::int64_t>(most)));
}

}  // namespace

const std::vector<OptionInfo>& link_options() {
  static const std::vector<OptionInfo> all = {
      {"link_class",
       "choice",
       "none",
       "",
       {"none", "x", "y", "z", "terminal", "local", "global", "backplane", "copper", "optical", "level-1", "level-2",
        "level-3"},
       "the class of links that class_bandwidth, class_latency and class_buffer are about"},
      {"class_bandwidth", "float", "0", "MB/s", {}, "of such a link, in one direction; 0: as of the others"},
      {"class_latency", "float", "0", "ns", {}, "of such a link; 0: as of the others"},
      {"class_buffer", "int", "0", "packets", {}, "at the end of such a link, each channel; 0: as of the others"},
      {"echo", "int", "8", "B", {}, "of an echo, on one-way rings; 0: there is none, and no such ring"},
      {"turn", "float", "0", "ns", {}, "from one one-way ring to the next"}};
  return all;
}

sim::FabricParameters with_options(const sim::LinkParameters& links, const Settings& settings) {
  constexpr double kMostMegabytes = 1e9;
  constexpr double kLeastMegabytes = 1e-6;  // 1 B/s
  constexpr double kLongest = 1e9;          // 1 s
  sim::FabricParameters parameters(links);
  sim::LinkParameters differing = links;
  const double bandwidth = limited(settings, "class_bandwidth", kMostMegabytes);
  if (bandwidth != 0 && bandwidth < kLeastMegabytes) {
    throw UsageError("option 'class_bandwidth=" + settings.text("class_bandwidth") +
                     "': 0, or 1e-6 to 1e9 MB/s are allowed");
  }
  const double latency = limited(settings, "class_latency", kLongest);
  const double buffer = limited(settings, "class_buffer", std::numeric_limits<std::uint16_t>::max());
  if (bandwidth != 0) differing.per_byte_fs = std::llround(1e9 / bandwidth);
  if (latency != 0) differing.latency = SimTime::from_ns(latency);
  if (buffer != 0) differing.buffer = static_cast<unsigned>(buffer);
  const std::string& link_class = settings.text("link_class");
  if (link_class != "none") {
    parameters.classes.emplace(link_class, differing);
  } else if (bandwidth != 0 || latency != 0 || buffer != 0) {
    throw UsageError(
        "options class_bandwidth, class_latency and class_buffer are about a class of links; say which "
        "with link_class");
  }
  parameters.echo = static_cast<std::uint16_t>(limited(settings, "echo", std::numeric_limits<std::uint16_t>::max()));
  parameters.turn = SimTime::from_ns(limited(settings, "turn", kLongest));
  return parameters;
}

}  // namespace gasmeter::networks::fabric
