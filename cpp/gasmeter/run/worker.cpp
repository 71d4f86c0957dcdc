#include "gasmeter/run/worker.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gasmeter/base/clock.hpp"
#include "gasmeter/base/error.hpp"
#include "gasmeter/base/stamps.hpp"
#include "gasmeter/base/version.hpp"
#include "gasmeter/conduit/host.hpp"
#include "gasmeter/launch/error_name.hpp"
#include "gasmeter/launch/fields.hpp"
#include "gasmeter/launch/launcher.hpp"
#include "gasmeter/launch/lent_environment.hpp"
#include "gasmeter/run/kernel_listing.hpp"
#include "gasmeter/run/networked_rank.hpp"
#include "gasmeter/run/rank_session.hpp"
#include "gasmeter/sim/trace/step.hpp"

namespace gasmeter::run {
namespace {

using launch::Fields;

// Prefix of options, which are passed as `option.<name>=<value>`.
constexpr std::string_view kOptionPrefix = "option.";

std::string text_of(const Fields& command, std::string_view key) {
  const auto match = command.find(key);
  return match ? std::string(*match) : std::string();
}

class Worker {
 public:
  Worker(launch::RankLink& link, const kernels::Registry& registry) : link_(link), registry_(registry) {}

  Fields answer(const Fields& command) {
    const std::string_view verb = command.at("verb");
    if (verb == "open") return open(command);
    if (verb == "block") return block(command);
    if (verb == "verify") return verify(command);
    if (verb == "counters") return counters(command);
    if (verb == "resolved") return resolved(command);
    if (verb == "close") return close(command);
    if (verb == "take_stamps") return take_stamps();
    if (verb == "write_stamps") return write_stamps(command);
    throw UsageError("command '" + std::string(verb) +
                     "' is unknown; known: open, block, verify, counters, resolved, close, take_stamps, write_stamps");
  }

 private:
  [[nodiscard]] RankSession& session(const Fields& command) {
    const auto match = sessions_.find(std::string(command.at("session")));
    if (match == sessions_.end()) throw UsageError("session '" + std::string(command.at("session")) + "' is not open");
    return *match->second;
  }

  Fields open(const Fields& command) {
    const std::string id(command.at("session"));
    if (sessions_.contains(id)) throw UsageError("session '" + id + "' is open already");
    Measurement::Options options;
    for (const auto& [key, value] : command) {
      if (key.starts_with(kOptionPrefix)) options[key.substr(kOptionPrefix.size())] = value;
    }
    const auto ranks = command.number("ranks");
    if (ranks != link_.size()) {
      throw UsageError("ranks=" + std::to_string(ranks) + ", but the job has " + std::to_string(link_.size()));
    }
    Request request = Request::check(registry_, {.kernel = text_of(command, "kernel"),
                                                 .op = text_of(command, "op"),
                                                 .conduit = text_of(command, "conduit"),
                                                 .variant = text_of(command, "variant"),
                                                 .size = command.number("size_bytes"),
                                                 .seed = command.number("seed"),
                                                 .ranks = link_.size(),
                                                 .options = std::move(options)});
    if (request.conduit->modelled) {
      throw UsageError("conduit " + request.conduit->name + " runs in virtual time, not on rank processes");
    }
    request.stamps = text_of(command, "stamps") == "true";
    if (request.stamps) request.require_stamps();
    sessions_[id] = std::make_unique<RankSession>(link_, "session-" + id, request);
    return {};
  }

  Fields block(const Fields& command) {
    const std::uint64_t iterations = command.number("iterations");
    if (iterations == 0) throw UsageError("iterations=0; at least 1");
    const bench::BlockResult result = session(command).program().run(iterations);
    Fields reply;
    if (link_.rank() == Rank{0}) {
      reply.add("elapsed_ns", launch::shortest(result.elapsed.ns()));
      reply.add("operations", std::to_string(result.operations));
      for (const auto& [name, value] : result.metrics) reply.add("metric." + name, launch::shortest(value));
    }
    return reply;
  }

  // Take stamps from now on, until they are written; for sessions that were opened with stamps=true.
  static Fields take_stamps() {
    Stamps::of_process().start();
    return {};
  }
  // Write this rank's stamps into FOLDER/stamps.RANK: pairs of 64-bit words, picoseconds and code; the last word is the
  // cost of a stamp in picoseconds. The answer names the prices that codes stand for, as `step.<code>=<name>`.
  Fields write_stamps(const Fields& command) const {
    Stamps& stamps = Stamps::of_process();
    stamps.stop();
    if (stamps.full()) throw ResourceError("more time stamps than a rank keeps; trace fewer operations (--iterations)");
    const std::string path = text_of(command, "folder") + "/stamps." + std::to_string(index(link_.rank()));
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    for (const Stamp& stamp : stamps.taken()) file.write(reinterpret_cast<const char*>(&stamp), sizeof stamp);
    const Stamp cost{cost_of_stamp().ps, ~std::uint64_t{0}};
    file.write(reinterpret_cast<const char*>(&cost), sizeof cost);
    if (!file.flush()) throw ResourceError("time stamps cannot be written to " + path);
    Fields reply;
    add_steps<conduit::PrivatePrice>(reply);
    add_steps<conduit::SharedPrice>(reply);
    return reply;
  }
  template <class AnyPrice>
  static void add_steps(Fields& reply) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(AnyPrice::count_); ++i) {
      const auto price = static_cast<AnyPrice>(i);
      reply.add("step." + std::to_string(conduit::stamp_code(price)), sim::name_of(sim::step_of(price)));
    }
  }
  // Return the median cost of short runs of stamps, behind the block; these stamps are not kept.
  static SimTime cost_of_stamp() {
    constexpr int kRuns = 31;
    constexpr int kStamps = 64;
    const Clock& clock = Clock::calibrated();
    Stamps probe = Stamps::apart();
    probe.start();
    std::array<std::int64_t, kRuns> spans{};
    for (std::int64_t& span : spans) {
      const SimTime start = clock.now();
      for (int i = 0; i < kStamps; ++i) probe.add(kStampCopy, [&] { return clock.now().ps; });
      span = (clock.now() - start).ps / kStamps;
    }
    std::nth_element(spans.begin(), spans.begin() + kRuns / 2, spans.end());
    return {spans[kRuns / 2]};
  }

  Fields verify(const Fields& command) {
    const bench::Verification verification = bench::verification_of(session(command).program());
    Fields reply;
    reply.add("verified", verification.errors <= verification.allowed ? "true" : "false");
    reply.add("errors", std::to_string(verification.errors));
    reply.add("checked", std::to_string(verification.checked));
    reply.add("silent", std::to_string(verification.silent));
    return reply;
  }

  // Return this rank's counts since the session was opened.
  Fields counters(const Fields& command) {
    const conduit::Counts counts = session(command).counts();
    Fields reply;
    for (std::size_t i = 0; i < static_cast<std::size_t>(conduit::Count::count_); ++i) {
      const auto which = static_cast<conduit::Count>(i);
      if (const auto times = counts.of(which)) {
        reply.add("counter." + std::string(conduit::name_of(which)), std::to_string(*times));
      }
    }
    return reply;
  }

  // Return the choices that were made for options that leave a choice, as `option.<name>=<value>`.
  Fields resolved(const Fields& command) {
    Fields reply;
    for (const auto& [name, value] : session(command).resolved()) reply.add(std::string(kOptionPrefix) + name, value);
    return reply;
  }

  Fields close(const Fields& command) {
    (void)session(command);
    sessions_.erase(std::string(command.at("session")));
    return {};
  }

  launch::RankLink& link_;
  const kernels::Registry& registry_;
  std::map<std::string, std::unique_ptr<RankSession>> sessions_;
};

}  // namespace

int serve_commands(launch::RankLink& link, const kernels::Registry& registry) {
  std::optional<Worker> worker(std::in_place, link, registry);
  while (const auto command = link.next_command()) {
    Fields reply;
    const Fields fields = Fields::parse(*command);
    try {
      const Fields answer = worker->answer(fields);
      reply.add("status", "ok");
      for (const auto& [key, value] : answer) reply.add(key, value);
    } catch (const BrokenJob&) {
      throw;
    } catch (const std::exception& error) {
      // An error while ranks talk to each other would leave the others waiting: the job ends, with this rank's reason.
      const std::string_view verb = fields.find("verb").value_or("");
      if (verb == "block" || verb == "verify") throw;
      reply = Fields();
      reply.add("status", "error");
      reply.add("error", std::string(launch::error_name(error)));
      reply.add("message", launch::error_text(error));
    }
    link.reply(reply.text());
  }
  worker.reset();
  finish_networks();
  return 0;
}

int worker_main(int argc, char** argv, const kernels::Registry& registry) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (arguments.size() == 1 && arguments[0] == "--version") {
    std::printf("gasmeter-rank %s (%s)\n", kVersion, kCompiler);
    return 0;
  }
  if (arguments.size() == 1 && arguments[0] == "--kernels") {
    std::fputs(list_kernels(registry).text().c_str(), stdout);
    return 0;
  }
  try {
    if (arguments.size() == 2 && arguments[0] == "--lend-environment") {
      launch::lend_environment(arguments[1]);
      return 0;
    }
    if (arguments.size() == 3 && arguments[0] == "--lend-when-asked") {
      launch::lend_when_asked(arguments[1], arguments[2], std::chrono::seconds(60));
      return 0;
    }
    if (!arguments.empty() && arguments[0] == "--join") {
      (void)Clock::calibrated();
      return launch::join_job(launch::parse_join_options(arguments),
                              [&registry](launch::RankLink& link) { return serve_commands(link, registry); });
    }
    const launch::ServeOptions options = launch::parse_serve_options(arguments);
    (void)Clock::calibrated();  // before the fork, once for all ranks
    return launch::serve(options, [&registry](launch::RankLink& link) { return serve_commands(link, registry); });
  } catch (const UsageError& error) {
    std::fprintf(stderr, "Error: %s (gasmeter-rank is started by gasmeter)\n", error.what());
    return 2;
  } catch (const BrokenJob& error) {
    std::fprintf(stderr, "Error: %s\n", error.what());
    return 4;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "Error: %s\n", error.what());
    return 3;
  }
}

}  // namespace gasmeter::run
