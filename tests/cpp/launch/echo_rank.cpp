// A rank for tests of the launch layer: does what the field `verb` of each command says, and returns any other text
// unchanged. It is started like gasmeter-rank; without --serve it is a rank started by exec.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/launch/error_name.hpp"
#include "gasmeter/launch/fields.hpp"
#include "gasmeter/launch/launcher.hpp"
#include "gasmeter/launch/rank_link.hpp"

namespace {

using gasmeter::launch::Fields;
using gasmeter::launch::RankLink;
using gasmeter::launch::SharedMapping;

using Memory = std::map<std::string, SharedMapping>;

Fields who_am_i(const RankLink& link) {
  return {{"rank", std::to_string(index(link.rank()))}, {"size", std::to_string(link.size())},
          {"cpu", std::to_string(link.cpu())},          {"pid", std::to_string(::getpid())},
          {"parent", std::to_string(::getppid())},      {"oversubscribed", link.oversubscribed() ? "true" : "false"}};
}

// Let each rank fill its share with its number, and all check all shares.
Fields reserve(RankLink& link, Memory& memory, const Fields& command) {
  const std::string id(command.at("id"));
  const auto bytes = static_cast<gasmeter::Bytes>(command.number("bytes"));
  SharedMapping mapping = link.reserve(id, bytes);
  const auto all = mapping.bytes();
  const bool zeroed = std::all_of(all.begin(), all.end(), [](std::byte b) { return b == std::byte{0}; });
  link.barrier();
  const auto share = bytes / link.size();
  for (std::size_t i = 0; i < share; ++i) all[index(link.rank()) * share + i] = std::byte(index(link.rank()) + 1);
  link.barrier();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < share * link.size(); ++i) wrong += all[i] != std::byte(i / share + 1);
  memory.insert_or_assign(id, std::move(mapping));
  return {{"zeroed", zeroed ? "true" : "false"}, {"wrong", std::to_string(wrong)}};
}

Fields exchange(RankLink& link, const Fields& command) {
  const std::string filler(static_cast<std::size_t>(command.number("bytes")), 'x');
  Fields answer;
  std::size_t expected_rank = 0;
  for (const std::string& blob : link.exchange(std::to_string(index(link.rank())) + filler)) {
    const bool right = blob == std::to_string(expected_rank) + filler;
    answer.add("from." + std::to_string(expected_rank++), right ? "right" : "wrong");
  }
  return answer;
}

[[noreturn]] void sleep_forever() {
  while (true) ::pause();
}

Fields obey(RankLink& link, Memory& memory, const Fields& command) {
  const auto verb = command.at("verb");
  const auto only = command.find("rank");
  if (only && *only != std::to_string(index(link.rank()))) return {{"skipped", "true"}};
  if (verb == "who") return who_am_i(link);
  if (verb == "reserve") return reserve(link, memory, command);
  if (verb == "exchange") return exchange(link, command);
  if (verb == "barrier") link.barrier();
  if (verb == "release") {
    memory.erase(std::string(command.at("id")));
    link.release(command.at("id"));
  }
  if (verb == "die") ::kill(::getpid(), static_cast<int>(command.number("signal")));
  if (verb == "exit") std::_Exit(static_cast<int>(command.number("status")));
  if (verb == "throw") throw std::runtime_error("the test asked for it");
  if (verb == "sleep") std::this_thread::sleep_for(std::chrono::milliseconds(command.number("milliseconds")));
  if (verb == "stuck") {
    link.reply("status=ok\n");
    sleep_forever();
  }
  if (verb == "hang") sleep_forever();
  return {};
}

int rank_main(RankLink& link) {
  Memory memory;
  while (const auto command = link.next_command()) {
    if (command->rfind("verb=", 0) != 0) {
      link.reply(*command);
      continue;
    }
    Fields answer;
    try {
      answer.add("status", "ok");
      for (const auto& [key, value] : obey(link, memory, Fields::parse(*command))) answer.add(key, value);
    } catch (const gasmeter::BrokenJob&) {
      throw;
    } catch (const gasmeter::Error& error) {
      answer = {
          {"status", "error"}, {"error", std::string(gasmeter::launch::error_name(error))}, {"message", error.what()}};
    }
    link.reply(answer.text());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  try {
    if (!arguments.empty() && arguments[0] == "--serve")
      return gasmeter::launch::serve(gasmeter::launch::parse_serve_options(arguments), rank_main);
    RankLink link = RankLink::from_environment();
    return rank_main(link);
  } catch (const gasmeter::Error& error) {
    std::cerr << "Error: " << error.what() << '\n';
    return 2;
  }
}
