// Effect of each planted fault, on the toy network in virtual time. Only builds with GASMETER_MUTANTS have the faults.
// There this file is the program gasmeter-fault-tests, which tests/checks/mutants.py runs first.
#include "gasmeter/core/faults.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "gasmeter/core/atomics/domain.hpp"
#include "gasmeter/core/negotiated.hpp"
#include "gasmeter/core/teams/named_barrier.hpp"
#include "gasmeter/core/vis/vis.hpp"
#include "support/model_world.hpp"

namespace gasmeter::core::faults_test {
namespace {

static_assert(kMutants, "build with -DGASMETER_MUTANTS=ON");

using sim::ModelHost;
using Ep = Endpoint<ModelHost>;
using Words = std::array<std::uint64_t, 4>;

// The toy network, whose interface does puts itself.
class PuttingInterface : public testing::IdealInstallation {
 public:
  PuttingInterface(sim::Engine& engine, const testing::ModelShape& shape)
      : IdealInstallation(engine, shape), network_(engine) {}
  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(sim::ModelHost host) {
    return std::make_unique<networks::ideal::IdealConduit>(network_, host, host.rank(),
                                                           networks::ideal::IdealOptions{.native_puts = true});
  }

 private:
  networks::ideal::IdealNetwork network_;
};

// Run body(endpoint) on both ranks of three jobs: one whose puts are messages, one whose network does puts, and one of
// neighbours.
template <class World, class Body>
void run_in(const testing::ModelShape& shape, const MutantPlan& plan, Body body) {
  World world(shape);
  for (const unsigned rank : {0U, 1U}) internals(world.endpoint(rank)).faults().plan(plan);
  world.run(body);
}
template <class Body>
void run_everywhere(const MutantPlan& plan, Body body) {
  SUBCASE("messages") {
    run_in<testing::ModelWorld>({}, plan, body);
  }
  SUBCASE("the network's own puts") {
    run_in<testing::ModelWorldOn<PuttingInterface>>({}, plan, body);
  }
  SUBCASE("neighbours") {
    run_in<testing::ModelWorld>({.nodes = 1, .neighbourhood = true}, plan, body);
  }
}

std::uint64_t* words_of(const Ep& endpoint, unsigned rank) {
  return reinterpret_cast<std::uint64_t*>(endpoint.segment(Rank{rank}).address);
}
Words words_at(const std::uint64_t* first) {
  Words words{};
  std::memcpy(words.data(), first, sizeof words);
  return words;
}

// Put numbers 1 to 4 to four places, from rank 0.
void put_words(Ep& endpoint, const Words& source) {
  for (std::size_t i = 0; i < source.size(); ++i) {
    (void)endpoint.put_nbi(Rank{1}, words_of(endpoint, 1) + i, &source[i], sizeof source[i]);
  }
  endpoint.wait_nbi();
}

}  // namespace

TEST_CASE("faults: drop leaves out every second put, get and atomic") {
  run_everywhere({Mutant::drop, 2}, [](Ep& endpoint) {
    AtomicDomain<ModelHost, std::uint64_t> domain(endpoint, {AtomicOp::fadd, AtomicOp::get});
    if (endpoint.rank() == Rank{0}) {
      put_words(endpoint, {1, 2, 3, 4});
      CHECK(words_at(words_of(endpoint, 1)) == Words{1, 0, 3, 0});
      Words got{};
      for (std::size_t i = 0; i < 4; ++i) endpoint.get(Rank{1}, &got[i], words_of(endpoint, 1) + 2 * (i / 2), 8);
      CHECK(got == Words{1, 0, 3, 0});
      for (unsigned i = 0; i < 4; ++i) (void)domain.wait<AtomicOp::fadd>(Rank{1}, words_of(endpoint, 1) + 8, 10);
      CHECK(words_of(endpoint, 1)[8] == 20);
    }
    endpoint.barrier();
  });
}

TEST_CASE("faults: each rank counts its own operations") {
  run_everywhere({Mutant::drop, 2}, [](Ep& endpoint) {
    const unsigned peer = 1 - index(endpoint.rank());
    const Words source{1, 2, 3, 4};
    for (std::size_t i = 0; i < 4; ++i) {  // the ranks take turns
      endpoint.put(Rank{peer}, words_of(endpoint, peer) + i, &source[i], sizeof source[i]);
      endpoint.barrier();
    }
    CHECK(words_at(words_of(endpoint, index(endpoint.rank()))) == Words{1, 0, 3, 0});
    endpoint.barrier();
  });
}

TEST_CASE("faults: misplace and corrupt bring other bytes") {
  for (const Mutant mutant : {Mutant::misplace, Mutant::corrupt}) {
    testing::ModelWorld world({});
    internals(world.endpoint(0)).faults().plan({mutant, 1});
    world.run([&](Ep& endpoint) {
      const std::uint64_t source = 0x0807060504030201;
      if (endpoint.rank() == Rank{0}) {
        endpoint.put(Rank{1}, words_of(endpoint, 1), &source, sizeof source);
        CHECK(*words_of(endpoint, 1) == (mutant == Mutant::misplace ? 0x0706050403020100U : 0x0008070605040302U));
      }
      endpoint.barrier();
    });
  }
}

TEST_CASE("faults: first does the first operation of a window alone") {
  run_everywhere({Mutant::first, 1}, [](Ep& endpoint) {
    if (endpoint.rank() == Rank{0}) {
      put_words(endpoint, {1, 2, 3, 4});
      CHECK(words_at(words_of(endpoint, 1)) == Words{1, 0, 0, 0});
      put_words(endpoint, {5, 6, 7, 8});
      CHECK(words_at(words_of(endpoint, 1)) == Words{5, 0, 0, 0});
    }
    endpoint.barrier();
  });
}

TEST_CASE("faults: early reports puts, gets, atomics and pieces before their effect, which is there after a barrier") {
  run_everywhere({Mutant::early, 1}, [](Ep& endpoint) {
    AtomicDomain<ModelHost, std::uint64_t> domain(endpoint, {AtomicOp::fadd, AtomicOp::get});
    Vis<ModelHost> vis(endpoint);
    const std::uint64_t source = 7;
    const auto got = std::make_unique<std::uint64_t>(0);
    std::uint64_t in_variable = 0;
    Words pieces{1, 2, 3, 4};
    const std::array<std::ptrdiff_t, 1> strides{16};
    const std::array<Bytes, 1> counts{2};
    if (endpoint.rank() == Rank{1}) words_of(endpoint, 1)[1] = 9;
    endpoint.barrier();
    if (endpoint.rank() == Rank{0}) {
      std::uint64_t* const remote = words_of(endpoint, 1);
      endpoint.put(Rank{1}, remote, &source, sizeof source);
      CHECK(remote[0] == 0);
      endpoint.get(Rank{1}, got.get(), remote + 1, sizeof *got);
      CHECK(*got == 0);
      endpoint.get(Rank{1}, &in_variable, remote + 1, sizeof in_variable);
      CHECK(domain.wait<AtomicOp::fadd>(Rank{1}, remote + 2, 5) == 0);
      CHECK(remote[2] == 0);
      vis.put(Rank{1}, vis::Strided{remote + 4, strides, pieces.data(), strides, 8, counts});
      CHECK(words_at(remote + 4) == Words{});
    }
    endpoint.barrier();
    if (endpoint.rank() == Rank{0}) {
      const std::uint64_t* const remote = words_of(endpoint, 1);
      CHECK(words_at(remote) == Words{7, 9, 5, 0});
      CHECK(*got == 9);
      CHECK(in_variable == 0);  // local variables of a function that may have returned stay untouched
      CHECK(words_at(remote + 4) == Words{1, 0, 3, 0});
    }
    endpoint.barrier();
  });
}

TEST_CASE("faults: a put that is reported early takes less time than one that is not") {
  std::array<SimTime, 2> taken{};
  for (const unsigned early : {0U, 1U}) {
    testing::ModelWorldOn<PuttingInterface> world({});
    internals(world.endpoint(0)).faults().plan({early == 1 ? Mutant::early : Mutant::none, 1});
    world.run([&](Ep& endpoint) {
      if (endpoint.rank() == Rank{0}) {
        const std::uint64_t source = 7;
        const SimTime start = endpoint.host().now();
        endpoint.put(Rank{1}, words_of(endpoint, 1), &source, sizeof source);
        taken[early] = endpoint.host().now() - start;
      }
      endpoint.barrier();
    });
  }
  CHECK(taken[1].ns() < taken[0].ns() / 4);
}

namespace {

// Rank 0 sends numbers 1 to 4. Rank 1 records them and answers with 100 times each number.
struct Exchange {
  Ep& endpoint;
  std::vector<std::uint64_t> seen;
  std::vector<std::uint64_t> answered;
  HandlerIndex request{};
  HandlerIndex reply{};

  explicit Exchange(Ep& of) : endpoint(of) {
    std::array<HandlerEntry<ModelHost>, 2> entries{
        {{{}, &on_request, this, "request"}, {{}, &on_reply, this, "reply"}}};
    endpoint.register_handlers(entries);
    request = entries[0].index;
    reply = entries[1].index;
  }
  static std::uint64_t word_of(const Token<ModelHost>& token) {
    std::uint64_t word = 0;
    std::memcpy(&word, token.payload(), sizeof word);
    return word;
  }
  static void on_request(Token<ModelHost>& token) {
    auto& self = token.context_as<Exchange>();
    self.seen.push_back(word_of(token));
    const std::uint64_t answer = 100 * self.seen.size();
    (void)token.reply_medium(self.reply, &answer, sizeof answer);
  }
  static void on_reply(Token<ModelHost>& token) {
    auto& self = token.context_as<Exchange>();
    self.answered.push_back(word_of(token));
  }
  void run(Category category) {
    endpoint.barrier();
    if (endpoint.rank() == Rank{0}) {
      std::uint64_t source = 0;
      while (source < 4) {
        const std::size_t before = answered.size();
        ++source;
        if (category == Category::medium) {
          (void)endpoint.request_medium(Rank{1}, request, &source, sizeof source, Flags::none);
        } else {
          (void)endpoint.request_long(Rank{1}, request, &source, sizeof source, words_of(endpoint, 1) + source,
                                      Flags::none);
        }
        endpoint.wait_until([&] { return answered.size() > before; });
      }
    }
    endpoint.barrier();
  }
};

}  // namespace

TEST_CASE("faults: a stale Long runs its handler over the landing zone as it was, a stale Medium has old bytes") {
  for (const Category category : {Category::long_message, Category::medium}) {
    for (const bool near : {false, true}) {
      CAPTURE(near);
      testing::ModelWorld world(near ? testing::ModelShape{.nodes = 1, .neighbourhood = true} : testing::ModelShape{});
      for (const unsigned rank : {0U, 1U}) internals(world.endpoint(rank)).faults().plan({Mutant::stale, 2});
      world.run([&](Ep& endpoint) {
        Exchange exchange(endpoint);
        exchange.run(category);
        if (endpoint.rank() == Rank{1}) {
          const std::uint64_t old = category == Category::medium ? 1 : 0;
          const std::uint64_t older = category == Category::medium ? 3 : 0;
          CHECK(exchange.seen == std::vector<std::uint64_t>{1, old, 3, older});
        } else {
          CHECK(exchange.answered == std::vector<std::uint64_t>{100, 100, 300, 300});  // the replies of rank 1
        }
      });
    }
  }
}

TEST_CASE("faults: local reads the source after local completion was reported") {
  run_everywhere({Mutant::local, 1}, [](Ep& endpoint) {
    Exchange exchange(endpoint);
    endpoint.barrier();
    if (endpoint.rank() == Rank{0}) {
      std::uint64_t source = 1;
      Event leaf;
      Event root =
          endpoint.put_nb(Rank{1}, words_of(endpoint, 1), &source, sizeof source, LocalCompletion::event(leaf));
      CHECK(leaf.is_done());
      source = 2;
      endpoint.wait(root);
      CHECK(*words_of(endpoint, 1) == 2);
      (void)endpoint.put_nbi(Rank{1}, words_of(endpoint, 1), &source, sizeof source, LocalCompletion::now());
      source = 3;
      endpoint.wait_nbi();
      CHECK(*words_of(endpoint, 1) == 3);
      (void)endpoint.request_medium(Rank{1}, exchange.request, &source, sizeof source, Flags::none);
      source = 4;
      endpoint.wait_until([&] { return exchange.answered.size() == 1; });
    }
    endpoint.barrier();
    if (endpoint.rank() == Rank{1}) CHECK(exchange.seen == std::vector<std::uint64_t>{4});
    endpoint.barrier();
  });
}

TEST_CASE("faults: barrier lets a rank go that another one has not joined") {
  run_everywhere({Mutant::barrier, 2}, [](Ep& endpoint) {
    static std::array<SimTime, 2> entered;  // both ranks are in one process
    entered[index(endpoint.rank())] = {};
    endpoint.barrier();  // the first barrier of rank 1 does not hold it
    if (endpoint.rank() == Rank{1}) endpoint.compute(SimTime::from_ns(1e6));
    entered[index(endpoint.rank())] = endpoint.host().now();
    endpoint.barrier();  // the second barrier of rank 0
    if (endpoint.rank() == Rank{0}) CHECK(endpoint.host().now() < SimTime::from_ns(1e6));
    endpoint.barrier();
    if (endpoint.rank() == Rank{0}) CHECK(endpoint.host().now() >= entered[1]);
    endpoint.barrier();
  });
}

TEST_CASE("faults: pieces of a transfer are exchanged or left out") {
  for (const Mutant mutant : {Mutant::misplace, Mutant::corrupt, Mutant::drop}) {
    run_in<testing::ModelWorld>({}, {mutant, 1}, [&](Ep& endpoint) {
      Vis<ModelHost> vis(endpoint);
      const std::uint64_t each = 0x0101010101010101;
      Words source{each, 0, 3 * each, 0};
      std::uint64_t* const remote = words_of(endpoint, 1);
      std::array<void*, 2> to{remote, remote + 2};
      std::array<void*, 2> from{&source[0], &source[2]};
      if (endpoint.rank() == Rank{0}) {
        vis.put(Rank{1}, vis::Indexed{to, 8, from, 8});
        CHECK((words_at(remote) == source) == false);
        CHECK((words_at(remote) == Words{}) == (mutant == Mutant::drop));
      }
      endpoint.barrier();
    });
  }
}

TEST_CASE("faults: a prepared message is left out or carries other bytes") {
  for (const Mutant mutant : {Mutant::drop, Mutant::corrupt, Mutant::local}) {
    run_in<testing::ModelWorld>({}, {Mutant::none, 1}, [&](Ep& endpoint) {
      Exchange exchange(endpoint);
      endpoint.barrier();
      if (endpoint.rank() == Rank{0}) {
        internals(endpoint).faults().plan({mutant, 1});
        std::uint64_t source = 5;
        Prepared<ModelHost> prepared = endpoint.prepare_medium(Rank{1}, &source, 8, 8, 0);
        (void)prepared.commit(exchange.request, 8, Flags::none);
        source = 6;
        if (mutant != Mutant::drop) endpoint.wait_until([&] { return !exchange.answered.empty(); });
      }
      endpoint.barrier();
      if (endpoint.rank() == Rank{1}) {
        if (mutant == Mutant::drop) CHECK(exchange.seen.empty());
        if (mutant == Mutant::corrupt) CHECK(exchange.seen == std::vector<std::uint64_t>{5 + (1ULL << 32)});
        if (mutant == Mutant::local) CHECK(exchange.seen == std::vector<std::uint64_t>{6});
      }
      endpoint.barrier();
    });
  }
}

}  // namespace gasmeter::core::faults_test
