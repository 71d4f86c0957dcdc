// Random programs of the conduit with every option, against the rules. Each request is handled once, with the bytes
// that were sent, and answered as its handler decides. The picoseconds are the same lazily, strictly and on one to four
// threads.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "networks/sci/conduit_job.hpp"
#include "support/effort.hpp"

namespace gasmeter::networks::sci::random_test {
namespace {

using namespace testing;
using conduit::AmView;
using conduit::Category;
using conduit::PollFilter;

constexpr Bytes kPiece = 3200;  // of a segment, for each sender's message
constexpr unsigned kEach = 12;  // requests of each rank

struct Plan {
  std::uint64_t seed = 0;
  Shape shape;
  SciOptions options;
  SciParameters parameters;
  DriverSettings driver;
};

Plan plan_of(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  Plan plan;
  plan.seed = seed;
  const std::string topologies[] = {"oneway-ring:2", "oneway-ring:5", "oneway-torus2d:3x2", "oneway-torus3d:2x2x2"};
  plan.shape.topology = topologies[below(4)];
  const unsigned nodes = sim::Topology::parse(plan.shape.topology).terminals();
  plan.shape.ranks = static_cast<unsigned>(2 + below(nodes + 1));
  for (unsigned rank = 0; rank < plan.shape.ranks; ++rank) {
    plan.shape.node_of.push_back(static_cast<std::uint32_t>(rank == 0 ? 0 : below(nodes)));
  }
  plan.options.pairs = static_cast<unsigned>(1 + below(4));
  plan.options.one_transaction = below(2) == 0;
  plan.options.check = below(2) == 0 ? SciOptions::Check::transaction : SciOptions::Check::message;
  plan.options.long_pio = below(3) * 1024;
  plan.options.staged = below(2) == 0;
  plan.options.small_buffers = static_cast<unsigned>(2 + below(3));
  plan.parameters.outstanding = static_cast<unsigned>(below(2) == 0 ? 16 : 1 + below(4));
  plan.parameters.gather = below(2) == 0 ? 64 : 128;
  plan.parameters.instruction = {static_cast<std::int64_t>(below(3)) * 500};
  plan.parameters.dma_start = {static_cast<std::int64_t>(1 + below(30)) * 1'000'000};
  plan.driver.alignment = below(2) == 0 ? 8 : 64;
  if (below(4) == 0) plan.options.queues = Queues::ibel;  // split queues may deadlock
  return plan;
}

// Contents that follow from a message's name alone.
struct Content {
  Category category = Category::short_message;
  Bytes size = 0;
  Bytes at = 0;
  unsigned arguments = 0;
  std::uint64_t seed = 0;
};

Content content_of(std::uint64_t plan, unsigned from, unsigned to, unsigned number, bool is_reply) {
  const std::uint64_t seed = gasmeter::testing::seed_of(plan, from, to, number, is_reply ? 1 : 0);
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  Content content;
  content.seed = seed;
  content.arguments = static_cast<unsigned>(1 + below(16));
  const std::uint64_t kind = below(4);
  if (kind == 1) content = {Category::medium, below(2049), 0, content.arguments, seed};
  if (kind >= 2) {
    content = {Category::long_message, below(2) == 0 ? below(200) : below(3000), below(130), content.arguments, seed};
  }
  return content;
}

bool answers(std::uint64_t plan, unsigned from, unsigned to, unsigned number) {
  return gasmeter::testing::seed_of(plan, from, to, number, 2) % 3 != 0;
}

struct Outcome {
  std::vector<std::int64_t> clocks;  // by rank: after each message that it handled, and at its end
  bool operator==(const Outcome&) const = default;
};

class Run {
 public:
  explicit Run(const Plan& plan)
      : plan_(plan),
        ranks_(plan.shape.ranks),
        job_(plan.shape, plan.options, plan.parameters, plan.driver, Bytes{ranks_} * 2 * kEach * kPiece),
        state_(ranks_) {}

  Outcome run() {
    for (unsigned rank = 0; rank < ranks_; ++rank) {
      state_[rank].seen.resize(ranks_);
      job_.engine.start(Rank{rank}, [this, rank] { body(rank); });
    }
    job_.engine.run();
    Outcome outcome;
    for (State& state : state_) {
      outcome.clocks.insert(outcome.clocks.end(), state.clocks.begin(), state.clocks.end());
      CHECK(state.wrong == 0);
    }
    return outcome;
  }

 private:
  struct State {
    std::vector<std::vector<bool>> seen;  // requests handled, by sender and number
    unsigned expected = 0;                // answers
    unsigned answered = 0;
    unsigned wrong = 0;
    std::vector<std::int64_t> clocks;
  };

  [[nodiscard]] std::byte* place(unsigned owner, unsigned sender, bool is_reply, unsigned number, Bytes at) {
    return job_.at(owner, ((Bytes{sender} * 2 + (is_reply ? 1 : 0)) * kEach + number) * kPiece + at);
  }
  // The payload is the request's number, then bytes that follow from the content's seed.
  Status send(unsigned rank, unsigned to, const conduit::AmHeader& to_whom, const Content& content, unsigned number) {
    conduit::AmHeader header = to_whom;
    header.category = content.category;
    header.arguments = static_cast<std::uint8_t>(content.arguments);
    std::vector<std::int32_t> arguments(content.arguments);
    for (unsigned i = 0; i < content.arguments; ++i) {
      arguments[i] = i == 0 ? static_cast<std::int32_t>(number) : static_cast<std::int32_t>(content.seed >> i);
    }
    return try_send(
        *job_.conduits[rank], header, arguments, patterned(content.size, content.seed),
        content.category == Category::long_message ? place(to, rank, header.is_reply, number, content.at) : nullptr);
  }
  void look(unsigned rank, const AmView& message, const Content& content) {
    bool fine = message.category == content.category && message.size == content.size &&
                message.arguments.size() == content.arguments;
    for (unsigned i = 1; fine && i < content.arguments; ++i) {
      fine = message.arguments[i] == static_cast<std::int32_t>(content.seed >> i);
    }
    const auto number = static_cast<unsigned>(message.arguments[0]);
    if (fine && content.category == Category::long_message) {
      fine = message.payload == place(rank, index(message.source), !message.is_request, number, content.at);
    }
    if (fine && content.size != 0) fine = has_pattern(message.payload, content.size, content.seed);
    state_[rank].wrong += fine ? 0U : 1U;
  }
  void arrived(unsigned rank, const AmView& message) {
    State& state = state_[rank];
    const unsigned source = index(message.source);
    const auto number = static_cast<unsigned>(message.arguments[0]);
    state.clocks.push_back(job_.host(rank).now().ps);
    if (!message.is_request) {
      ++state.answered;
      look(rank, message, content_of(plan_.seed, source, rank, number, true));
      return;
    }
    look(rank, message, content_of(plan_.seed, source, rank, number, false));
    std::vector<bool>& seen = state.seen[source];
    if (seen.size() <= number) seen.resize(number + 1);
    state.wrong += seen[number] ? 1U : 0U;
    seen[number] = true;
    if (!answers(plan_.seed, source, rank, number)) return;
    const Content content = content_of(plan_.seed, rank, source, number, true);
    Sink nested([&](const AmView& reply) { arrived(rank, reply); });
    while (send(rank, source, reply_to(message, Category::short_message), content, number) != Status::ok) {
      if (job_.conduits[rank]->poll(nested, 3, PollFilter::replies_only) == 0) job_.host(rank).idle(kNever);
    }
    job_.host(rank).spend(SimTime{static_cast<std::int64_t>(content.seed % 7) * 300'000});
    look(rank, message, content_of(plan_.seed, source, rank, number, false));  // the message is unchanged
  }
  void body(unsigned rank) {
    State& state = state_[rank];
    sim::ModelHost host = job_.host(rank);
    conduit::Conduit& conduit = *job_.conduits[rank];
    std::mt19937_64 random(gasmeter::testing::seed_of(plan_.seed, rank));
    Sink sink([&](const AmView& message) { arrived(rank, message); });
    for (unsigned number = 0; number < kEach; ++number) {
      const auto to = static_cast<unsigned>(random() % ranks_);
      host.spend(SimTime{static_cast<std::int64_t>(random() % 4) * 700'000});
      const unsigned budget = random() % 2 == 0 ? 1 : 16;
      if (answers(plan_.seed, rank, to, number)) ++state.expected;
      while (send(rank, to, header_to(to, Category::short_message), content_of(plan_.seed, rank, to, number, false),
                  number) != Status::ok) {
        if (conduit.poll(sink, budget, PollFilter::everything) == 0) host.idle(kNever);
      }
    }
    wait(conduit, host, sink, [&] { return state.answered == state.expected; });
    state.clocks.push_back(host.now().ps);
    poll_until(conduit, host, sink, SimTime{1'000'000'000'000});
    for (unsigned to = 0; to < ranks_; ++to) state.wrong += job_.conduits[rank]->requests_under_way(Rank{to});
  }

  Plan plan_;
  unsigned ranks_;
  Job job_;
  std::vector<State> state_;
};

TEST_CASE("sci_random_programs_end_the_same_however_they_are_run") {
  const std::uint64_t programs = gasmeter::testing::rounds(60);
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    CAPTURE(seed);
    Plan plan = plan_of(seed);
    const Outcome lazy = Run(plan).run();
    CHECK(lazy.clocks.size() > plan.shape.ranks);
    Plan strict = plan;
    strict.shape.strict = true;
    CHECK(Run(strict).run() == lazy);
    for (unsigned threads = 2; threads <= 4; ++threads) {
      Plan several = plan;
      several.shape.threads = threads;
      CHECK(Run(several).run() == lazy);
    }
  }
}

}  // namespace
}  // namespace gasmeter::networks::sci::random_test
