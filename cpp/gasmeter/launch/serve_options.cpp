#include <charconv>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/launcher.hpp"

namespace gasmeter::launch {
namespace {

constexpr const char* kUsage = "usage: --serve --ranks N --control-fd F [--program CMD ...]";
constexpr const char* kJoinUsage = "usage: --join --rank N --addresses A0,A1,... --secret-fd F [--patience S]";

template <class Integer>
Integer whole_number(std::string_view option, std::string_view text) {
  Integer value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || text.empty())
    throw UsageError(std::string(option) + ": `" + std::string(text) + "` is not a whole number; " + kUsage);
  return value;
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    parts.emplace_back(list.substr(0, comma));
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
  }
  return parts;
}

// Take an option that both sides of a job of several hosts have; false: another option.
bool take_remote(RemoteJob& job, std::string_view option, std::string_view value) {
  if (option == "--addresses")
    job.addresses = split(value);
  else if (option == "--secret-fd")
    job.secret = read_secret(whole_number<int>(option, value));
  else if (option == "--patience")
    job.patience = std::chrono::seconds(whole_number<unsigned>(option, value));
  else
    return false;
  return true;
}

}  // namespace

ServeOptions parse_serve_options(std::span<const std::string_view> arguments) {
  ServeOptions options;
  RemoteJob remote;
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
    else if (!take_remote(remote, option, value))
      throw UsageError("`" + std::string(option) + "` is no option; " + kUsage);
  }
  if (options.control_fd < 0) throw UsageError(std::string("--control-fd is missing; ") + kUsage);
  if (!remote.addresses.empty()) {
    if (remote.addresses.size() != options.ranks) throw UsageError("--addresses: one per rank; " + std::string(kUsage));
    options.remote = std::move(remote);
  }
  return options;
}

JoinOptions parse_join_options(std::span<const std::string_view> arguments) {
  JoinOptions options;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view option = arguments[i];
    if (i + 1 == arguments.size()) throw UsageError("`" + std::string(option) + "` lacks a value; " + kJoinUsage);
    const std::string_view value = arguments[++i];
    if (option == "--rank")
      options.rank = whole_number<std::uint32_t>(option, value);
    else if (!take_remote(options.job, option, value))
      throw UsageError("`" + std::string(option) + "` is no option; " + kJoinUsage);
  }
  if (options.rank == 0 || options.rank >= options.job.addresses.size())
    throw UsageError("--rank " + std::to_string(options.rank) + ": 1.." +
                     std::to_string(options.job.addresses.size() - 1) + ", one less than addresses; " + kJoinUsage);
  return options;
}

}  // namespace gasmeter::launch
