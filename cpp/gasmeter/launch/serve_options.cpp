#include <charconv>

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/launcher.hpp"

namespace gasmeter::launch {
namespace {

constexpr const char* kUsage = "usage: --serve --ranks N --control-fd F [--program CMD ...]";

template <class Integer>
Integer whole_number(std::string_view option, std::string_view text) {
  Integer value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || text.empty())
    throw UsageError(std::string(option) + ": `" + std::string(text) + "` is not a whole number; " + kUsage);
  return value;
}

}  // namespace

ServeOptions parse_serve_options(std::span<const std::string_view> arguments) {
  ServeOptions options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view option = arguments[i];
    if (option == "--serve") continue;
    if (i + 1 == arguments.size()) throw UsageError("`" + std::string(option) + "` lacks a value; " + kUsage);
    if (option == "--program") {
      options.program.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    const std::string_view value = arguments[++i];
    if (option == "--ranks")
      options.ranks = whole_number<std::uint32_t>(option, value);
    else if (option == "--control-fd")
      options.control_fd = whole_number<int>(option, value);
    else
      throw UsageError("`" + std::string(option) + "` is no option; " + kUsage);
  }
  if (options.control_fd < 0) throw UsageError(std::string("--control-fd is missing; ") + kUsage);
  return options;
}

}  // namespace gasmeter::launch
