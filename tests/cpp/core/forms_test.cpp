// Behaviour and times of an endpoint in the reference forms of its parts; tests/golden/forms.md has the sums.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/real_host.hpp"
#include "gasmeter/conduit/fault_injection.hpp"
#include "gasmeter/core/atomics/domain.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/core/negotiated.hpp"
#include "gasmeter/core/vis/vis.hpp"
#include "support/model_world.hpp"
#include "support/thread_world.hpp"

namespace gasmeter::core::forms_test {
namespace {

using conduit::FaultInjectingConduit;
using conduit::FaultPlan;
using sim::ModelHost;
using testing::layout_of;
using testing::Mapping;
using testing::ModelWorld;
using testing::ThreadWorld;
using Ep = Endpoint<ModelHost>;

// The toy network, whose interface does puts itself.
class PuttingInterface {
 public:
  static sim::EngineOptions options(const testing::ModelShape& shape) {
    return testing::IdealInstallation::options(shape);
  }
  PuttingInterface(sim::Engine& engine, const testing::ModelShape& /*shape*/) : network_(engine) {}
  [[nodiscard]] std::unique_ptr<conduit::Conduit> conduit(sim::ModelHost host) {
    return std::make_unique<networks::ideal::IdealConduit>(network_, host, host.rank(),
                                                           networks::ideal::IdealOptions{.native_puts = true});
  }

 private:
  networks::ideal::IdealNetwork network_;
};
using PuttingWorld = testing::ModelWorldOn<PuttingInterface>;

constexpr Forms kNp{.np_am = Form::reference};
constexpr Forms kImmediate{.immediate = Form::reference};
constexpr Forms kLocal{.local_completion = Form::reference};

// ---- negotiated payload

template <class H>
HandlerIndex counter(Endpoint<H>& endpoint, unsigned& arrived) {
  std::array<HandlerEntry<H>, 1> entries{
      {{{}, [](Token<H>& token) { ++token.template context_as<unsigned>(); }, &arrived, "count"}}};
  endpoint.register_handlers(entries);
  return entries[0].index;
}

// Return the time in ps in which a rank prepares and commits a message of 100 bytes to itself, in a job of one rank.
std::int64_t time_of_neighbours(const Forms& forms, bool is_long, bool strict) {
  std::int64_t taken = 0;
  ModelWorld world({.ranks = 1, .nodes = 1, .neighbourhood = true, .strict = strict, .forms = forms});
  world.run([&](Ep& endpoint) {
    unsigned arrived = 0;
    const HandlerIndex handler = counter(endpoint, arrived);
    std::byte* const remote = endpoint.segment().address;
    const std::int64_t before = endpoint.host().now().ps;
    if (is_long) {
      Prepared<ModelHost> prepared = endpoint.prepare_long(Rank{0}, nullptr, 100, 100, remote, 0);
      CHECK(prepared.commit_long(handler, 100, remote, Flags::none) == Status::ok);
    } else {
      Prepared<ModelHost> prepared = endpoint.prepare_medium(Rank{0}, nullptr, 100, 100, 0);
      CHECK(prepared.commit(handler, 100, Flags::none) == Status::ok);
    }
    taken = endpoint.host().now().ps - before;
    endpoint.wait_until([&] { return arrived == 1; });
    CHECK(endpoint.outstanding_temporaries() == 0);
  });
  return taken;
}

TEST_CASE("prepared_medium_in_its_reference_form_costs_a_neighbour_one_copy_more") {
  for (const bool strict : {false, true}) {
    CHECK(time_of_neighbours({}, false, strict) == 45'000);
    CHECK(time_of_neighbours(kNp, false, strict) == 65'000);
    CHECK(time_of_neighbours({}, true, strict) == 65'000);  // copied in either form
    CHECK(time_of_neighbours(kNp, true, strict) == 65'000);
  }
}

// Prepare, write, and commit or cancel every kind of message to itself, and check the data that arrive.
template <class H>
void check_prepared(Endpoint<H>& endpoint) {
  struct Arrivals {
    unsigned count = 0;
    unsigned wrong = 0;
  } arrivals;
  std::array<HandlerEntry<H>, 2> entries{
      {{{},
        [](Token<H>& token) {
          auto& seen = token.template context_as<Arrivals>();
          ++seen.count;
          const auto* const payload = static_cast<const unsigned char*>(token.payload());
          for (Bytes i = 0; i < token.size(); ++i) seen.wrong += payload[i] != token.argument(0) ? 1U : 0U;
        },
        &arrivals,
        "check"},
       {{},
        [](Token<H>& token) {
          const auto mark = token.argument(0);
          const auto reply = HandlerIndex{static_cast<std::uint8_t>(token.argument(1))};
          {
            Prepared<H> given_up = token.prepare_medium(nullptr, 1, 64, 1);
            CHECK(token.endpoint().outstanding_temporaries() == 1);
            given_up.cancel();
            CHECK(token.endpoint().outstanding_temporaries() == 0);
          }
          if (token.argument(2) != 0) {
            std::byte* const remote = token.endpoint().segment().address;
            Prepared<H> prepared = token.prepare_long(nullptr, 64, 64, remote, 1);
            std::memset(prepared.data(), mark, 64);
            CHECK(prepared.commit_long(reply, 64, remote, Flags::none, mark) == Status::ok);
          } else {
            Prepared<H> prepared = token.prepare_medium(nullptr, 64, 64, 1);
            std::memset(prepared.data(), mark, 64);
            CHECK(prepared.commit(reply, 64, Flags::none, mark) == Status::ok);
          }
        },
        &arrivals,
        "answer"}}};
  endpoint.register_handlers(entries);
  const HandlerIndex check = entries[0].index;
  const Rank self = endpoint.rank();
  std::byte* const remote = endpoint.segment().address;
  std::array<std::byte, 64> client_buffer{};
  unsigned sent = 0;
  for (const bool is_long : {false, true}) {
    for (const bool is_own : {false, true}) {
      CAPTURE(is_long);
      CAPTURE(is_own);
      const void* const client = is_own ? client_buffer.data() : nullptr;
      const unsigned temporaries = is_own ? 0 : 1;
      const auto prepare = [&](LocalCompletion local) {
        return is_long ? endpoint.prepare_long(self, client, 10, 64, remote, 1, local)
                       : endpoint.prepare_medium(self, client, 10, 64, 1, local);
      };
      {
        Prepared<H> given_up = prepare(LocalCompletion::now());
        CHECK(given_up.size() == 64);
        CHECK(endpoint.outstanding_temporaries() == temporaries);
      }
      CHECK(endpoint.outstanding_temporaries() == 0);
      Event leaf = Event::no_op();
      for (unsigned how = 0; how < (is_own ? 3U : 1U); ++how) {
        Prepared<H> prepared = prepare(how == 0   ? LocalCompletion::now()
                                       : how == 1 ? LocalCompletion::group()
                                                  : LocalCompletion::event(leaf));
        const auto mark = static_cast<std::int32_t>(++sent);
        std::memset(prepared.data(), mark, 50);
        CHECK((is_long ? prepared.commit_long(check, 50, remote, Flags::none, mark)
                       : prepared.commit(check, 50, Flags::none, mark)) == Status::ok);
        if (how == 1) endpoint.wait_nbi();
        if (how == 2) endpoint.wait(leaf);
        endpoint.wait_until([&] { return arrivals.count == sent; });
      }
      CHECK(endpoint.outstanding_temporaries() == 0);
    }
    CHECK(endpoint.request_short(self, entries[1].index, Flags::none, static_cast<std::int32_t>(++sent),
                                 static_cast<std::int32_t>(index(check)), is_long ? 1 : 0) == Status::ok);
    endpoint.wait_until([&] { return arrivals.count == sent; });
  }
  CHECK(arrivals.wrong == 0);
  CHECK(endpoint.outstanding_temporaries() == 0);
  CHECK(endpoint.outstanding_operations() == 0);
  const Bytes most = endpoint.max_request_medium(self, 1);
  CHECK_THROWS_AS((void)endpoint.prepare_medium(self, nullptr, most + 1, most + 1, 1), UsageError);
  Prepared<H> largest = endpoint.prepare_medium(self, nullptr, 0, ~Bytes{0}, 1);
  CHECK(largest.size() == most);
}

TEST_CASE("prepared_messages_in_their_reference_form_hold_memory_until_they_are_sent_or_given_back") {
  const ThreadWorld world(layout_of(1, 16 * 1024, 4096), Mapping::one);
  SUBCASE("real") {
    Endpoint<RealHost> endpoint(RealHost(), world.view(0));
    endpoint.use(kNp);
    check_prepared(endpoint);
  }
  SUBCASE("real with threads") {
    Endpoint<ThreadedHost> endpoint(ThreadedHost(), world.view(0));
    endpoint.use(kNp);
    check_prepared(endpoint);
  }
  SUBCASE("modelled") {
    ModelWorld modelled({.ranks = 1, .nodes = 1, .neighbourhood = true, .forms = kNp});
    modelled.run([](Ep& endpoint) { check_prepared(endpoint); });
  }
}

// ---- immediate

using Call = std::function<bool(Ep&, HandlerIndex)>;  // calls to rank 1

// Tell whether the call succeeds on rank 0 if the rank's k-th acquisition fails.
bool succeeds(const Call& call, const Forms& forms, std::uint64_t failing) {
  bool is_first = true;
  PuttingWorld world({.forms = forms}, [&](conduit::Conduit& inner) {
    const FaultPlan plan = is_first ? FaultPlan::once(failing) : FaultPlan::none();
    is_first = false;
    return std::make_unique<FaultInjectingConduit>(inner, plan);
  });
  bool succeeded = false;
  world.run([&](Ep& endpoint) {
    unsigned arrived = 0;
    const HandlerIndex handler = counter(endpoint, arrived);
    if (endpoint.rank() == Rank{0}) {
      succeeded = call(endpoint, handler);
      endpoint.wait_nbi();
    }
    endpoint.barrier();
    CHECK(endpoint.outstanding_operations() == 0);
  });
  return succeeded;
}

bool is_started(Ep& endpoint, Event event) {
  if (event.is_no_op()) return false;
  endpoint.wait(event);
  return true;
}

TEST_CASE("immediate_calls_in_their_reference_form_wait_for_what_they_lack") {
  static std::array<std::byte, 64> data{};
  static std::uint64_t word = 0;
  const auto remote = [](Ep& ep) { return ep.segment(Rank{1}).address; };
  const Rank to{1};
  constexpr Flags kFlags = Flags::immediate;
  struct Trial {
    const char* name;
    Call call;
    std::uint64_t failing = 1;
  };
  const std::vector<Trial> trials{
      {"short", [=](Ep& ep, HandlerIndex handler) { return ep.request_short(to, handler, kFlags) == Status::ok; }},
      {"medium",
       [=](Ep& ep, HandlerIndex handler) {
         return ep.request_medium(to, handler, data.data(), 64, kFlags) == Status::ok;
       }},
      {"long",
       [=](Ep& ep, HandlerIndex handler) {
         return ep.request_long(to, handler, data.data(), 64, remote(ep), kFlags) == Status::ok;
       }},
      {"of run time",
       [=](Ep& ep, HandlerIndex handler) {
         return ep.request(to, {Category::short_message, handler, nullptr, 0, nullptr, {}}, kFlags) == Status::ok;
       }},
      {"medium with a local completion",
       [=](Ep& ep, HandlerIndex handler) {
         return ep.request_medium(to, handler, data.data(), 64, LocalCompletion::group(), kFlags) == Status::ok;
       }},
      {"prepare",
       [=](Ep& ep, HandlerIndex handler) {
         Prepared<ModelHost> sd = ep.prepare_medium(to, nullptr, 8, 8, 0, LocalCompletion::now(), kFlags);
         return sd && sd.commit(handler, 8, Flags::none) == Status::ok;
       }},
      {"commit",
       [=](Ep& ep, HandlerIndex handler) {
         Prepared<ModelHost> sd = ep.prepare_medium(to, nullptr, 8, 8, 0);
         return sd.commit(handler, 8, kFlags) == Status::ok;
       },
       2},
      {"put",
       [=](Ep& ep, HandlerIndex) {
         return is_started(ep, ep.put_nb(to, remote(ep), data.data(), 64, LocalCompletion::defer(), kFlags));
       }},
      {"implicit put",
       [=](Ep& ep, HandlerIndex) {
         return ep.put_nbi(to, remote(ep), data.data(), 64, LocalCompletion::group(), kFlags) == Status::ok;
       }},
      {"get", [=](Ep& ep, HandlerIndex) { return is_started(ep, ep.get_nb(to, data.data(), remote(ep), 64, kFlags)); }},
      {"implicit get",
       [=](Ep& ep, HandlerIndex) { return ep.get_nbi(to, data.data(), remote(ep), 64, kFlags) == Status::ok; }},
      {"atomic",
       [=](Ep& ep, HandlerIndex) {
         AtomicDomain<ModelHost, std::uint64_t> domain(ep, {AtomicOp::fadd});
         auto* const target = reinterpret_cast<std::uint64_t*>(remote(ep));
         return is_started(ep, domain.nb<AtomicOp::fadd>(&word, to, target, 1, 0, kFlags));
       }},
      {"pieces",
       [=](Ep& ep, HandlerIndex) {
         const std::array<Bytes, 1> counts{4};
         const std::array<std::ptrdiff_t, 1> strides{16};
         Vis<ModelHost> vis(ep);
         const vis::Strided pieces{remote(ep), strides, data.data(), strides, 8, counts};
         return is_started(ep, vis.put_nb(to, pieces, LocalCompletion::defer(), kFlags));
       }},
  };
  for (const Trial& trial : trials) {
    const std::string name = trial.name;
    CAPTURE(name);
    CHECK_FALSE(succeeds(trial.call, {}, trial.failing));
    CHECK(succeeds(trial.call, kImmediate, trial.failing));
  }
}

// A rank's messages to itself fill its ring, so that only a poll makes room.
TEST_CASE("immediate_calls_in_their_reference_form_poll_where_a_ring_is_full") {
  const ThreadWorld world(layout_of(1, 16 * 1024, 4096), Mapping::one);
  Endpoint<RealHost> endpoint(RealHost(), world.view(0));
  unsigned arrived = 0;
  const HandlerIndex handler = counter(endpoint, arrived);
  unsigned sent = 0;
  while (endpoint.request_short(Rank{0}, handler, Flags::immediate) == Status::ok) ++sent;
  CHECK(arrived == 0);
  endpoint.use(kImmediate);
  CHECK(endpoint.request_short(Rank{0}, handler, kTryOnce) == Status::no_resource);  // a call of the library itself
  CHECK(arrived == 0);
  REQUIRE(endpoint.request_short(Rank{0}, handler, Flags::immediate) == Status::ok);
  CHECK(arrived > 0);
  endpoint.wait_until([&] { return arrived == sent + 1; });
}

TEST_CASE("immediate_replies_in_their_reference_form_wait_for_what_they_lack") {
  for (const bool ignores : {false, true}) {
    unsigned made = 0;
    PuttingWorld world({.forms = ignores ? kImmediate : Forms{}}, [&](conduit::Conduit& inner) {
      return std::make_unique<FaultInjectingConduit>(inner, made++ == 1 ? FaultPlan::once(1) : FaultPlan::none());
    });
    world.run([&](Ep& endpoint) {
      struct State {
        unsigned answered = 0;
        bool was_taken = false;
        HandlerIndex reply{};
      } state;
      std::array<HandlerEntry<ModelHost>, 2> entries{
          {{{}, [](Token<ModelHost>& token) { ++token.context_as<State>().answered; }, &state, "answer"},
           {{},
            [](Token<ModelHost>& token) {
              auto& mine = token.context_as<State>();
              mine.was_taken = token.reply_short(mine.reply, Flags::immediate) == Status::ok;
              if (!mine.was_taken) (void)token.reply_short(mine.reply);
            },
            &state,
            "ask"}}};
      endpoint.register_handlers(entries);
      state.reply = entries[0].index;
      if (endpoint.rank() == Rank{0}) {
        CHECK(endpoint.request_short(Rank{1}, entries[1].index, Flags::none) == Status::ok);
        endpoint.wait_until([&] { return state.answered == 1; });
      }
      if (endpoint.rank() == Rank{1}) {
        endpoint.wait_until([&] { return state.was_taken || !ignores; });
        CHECK(state.was_taken == ignores);
      }
      endpoint.barrier();
    });
  }
}

// ---- local completion

struct PutTimes {
  std::int64_t returned = 0;
  std::int64_t leaf = 0;
  std::int64_t root = 0;
  bool operator==(const PutTimes&) const = default;
};

enum class How : std::uint8_t { now, event, group, region };

// Rank 0 puts `bytes` bytes at time 0.
PutTimes times_of_put(Bytes bytes, How how, const Forms& forms, bool strict) {
  PutTimes times;
  PuttingWorld world({.strict = strict, .forms = forms});
  const std::vector<std::byte> source(bytes, std::byte{7});
  world.run([&](Ep& endpoint) {
    if (endpoint.rank() == Rank{1}) return;
    const auto now = [&] { return endpoint.host().now().ps; };
    std::byte* const remote = endpoint.segment(Rank{1}).address;
    Event leaf;
    Event root;
    if (how == How::now) root = endpoint.put_nb(Rank{1}, remote, source.data(), bytes, LocalCompletion::now());
    if (how == How::event) root = endpoint.put_nb(Rank{1}, remote, source.data(), bytes, LocalCompletion::event(leaf));
    if (how == How::region) endpoint.begin_access_region();
    if (how == How::group || how == How::region) {
      CHECK(endpoint.put_nbi(Rank{1}, remote, source.data(), bytes, LocalCompletion::group()) == Status::ok);
    }
    if (how == How::region) {
      root = endpoint.end_access_region();
      leaf = endpoint.leaf_of(root);
    }
    times.returned = now();
    if (how == How::group) {
      endpoint.wait_nbi(EventSet::local);
    } else {
      endpoint.wait(leaf);
    }
    times.leaf = now();
    endpoint.wait(root);
    endpoint.wait_nbi();
    times.root = now();
    CHECK(endpoint.outstanding_operations() == 0);
  });
  return times;
}

TEST_CASE("put_without_local_completion_of_its_own_waits_for_its_root") {
  for (const bool strict : {false, true}) {
    CAPTURE(strict);
    constexpr Bytes kLarge = 8192;  // more than the conduit copies
    CHECK(times_of_put(kLarge, How::now, {}, strict) == PutTimes{8'830'000, 8'830'000, 10'830'000});
    for (const How how : {How::event, How::group, How::region}) {
      CAPTURE(static_cast<int>(how));
      CHECK(times_of_put(kLarge, how, {}, strict) == PutTimes{400'000, 8'830'000, 10'830'000});
      CHECK(times_of_put(kLarge, how, kLocal, strict) == PutTimes{10'830'000, 10'830'000, 10'830'000});
      // A copied source is free at return, as always. The leaf of a region completes with the whole put.
      const std::int64_t leaf = how == How::region ? 2'440'000 : 220'000;
      CHECK(times_of_put(100, how, kLocal, strict) == PutTimes{220'000, leaf, 2'440'000});
    }
    CHECK(times_of_put(kLarge, How::now, kLocal, strict) == PutTimes{10'830'000, 10'830'000, 10'830'000});
    CHECK(times_of_put(100, How::now, kLocal, strict) == times_of_put(100, How::now, {}, strict));
  }
}

// Put two pieces, both too large for the conduit to copy.
TEST_CASE("pieces_without_local_completion_of_their_own_wait_for_their_root") {
  constexpr Bytes kPiece = 8192;
  for (const bool is_implicit : {false, true}) {
    for (const bool is_reference : {false, true}) {
      CAPTURE(is_implicit);
      CAPTURE(is_reference);
      PuttingWorld world({.forms = is_reference ? kLocal : Forms{}});
      const std::vector<std::byte> source(4 * kPiece, std::byte{7});
      world.run([&](Ep& endpoint) {
        if (endpoint.rank() == Rank{1}) return;
        const std::array<Bytes, 1> counts{2};
        const std::array<std::ptrdiff_t, 1> strides{2 * kPiece};
        Vis<ModelHost> vis(endpoint);
        const vis::Strided pieces{endpoint.segment(Rank{1}).address, strides, source.data(), strides, kPiece, counts};
        Event leaf = Event::no_op();
        Event root;
        if (is_implicit) {
          CHECK(vis.put_nbi(Rank{1}, pieces, LocalCompletion::group()) == Status::ok);
        } else {
          root = vis.put_nb(Rank{1}, pieces, LocalCompletion::event(leaf));
        }
        CHECK(vis.last().mechanism == vis::Mechanism::pieces);
        const std::int64_t returned = endpoint.host().now().ps;
        if (!is_implicit) endpoint.wait(leaf);
        endpoint.wait_nbi(EventSet::local);
        CHECK((endpoint.host().now().ps == returned) == is_reference);
        endpoint.wait(root);
        endpoint.wait_nbi();
        CHECK((endpoint.host().now().ps == returned) == is_reference);
        CHECK(endpoint.outstanding_operations() == 0);
      });
    }
  }
}

// ---- atomics

struct Added {
  std::int64_t taken = 0;
  AtomicPath path{};
  std::uint64_t before = 0;
};

// Rank 0 adds to a word of `owner`, which waits for it, with a neighbour on its node or without one.
Added add_to(Rank owner, AtomicForm form, bool neighbourhood, bool strict) {
  Added added;
  ModelWorld world({.ranks = 2,
                    .nodes = neighbourhood ? 1U : 2U,
                    .neighbourhood = neighbourhood,
                    .strict = strict,
                    .forms = {.atomics = form}});
  world.run([&](Ep& endpoint) {
    AtomicDomain<ModelHost, std::uint64_t> domain(endpoint, {AtomicOp::fadd});
    auto* const word = reinterpret_cast<std::uint64_t*>(endpoint.segment(owner).address);
    if (endpoint.rank() == Rank{0}) {
      added.path = domain.path();
      added.before = domain.wait<AtomicOp::fadd>(owner, word, 3);
      added.taken = endpoint.host().now().ps;
    } else if (owner == Rank{1}) {
      endpoint.wait_until([&] { return *word == 3; });
    }
    endpoint.barrier();
    if (endpoint.rank() == owner) CHECK(*word == 3);
  });
  return added;
}

TEST_CASE("atomics_by_messages_go_to_everybody") {
  for (const bool strict : {false, true}) {
    for (const std::uint32_t owner : {0U, 1U}) {
      CAPTURE(owner);
      for (const AtomicForm form : {AtomicForm::specialised, AtomicForm::reference}) {
        const Added direct = add_to(Rank{owner}, form, true, strict);
        CHECK(direct.path == AtomicPath::direct);
        CHECK(direct.taken == 105'000);
      }
      const Added added = add_to(Rank{owner}, AtomicForm::messages, true, strict);
      CHECK(added.path == AtomicPath::to_all);
      CHECK(std::string(name_of(added.path)) == "messages to all");
      CHECK(added.taken == 420'000);
    }
    CHECK(add_to(Rank{0}, AtomicForm::reference, false, strict).path == AtomicPath::messages);
    CHECK(add_to(Rank{0}, AtomicForm::reference, false, strict).taken == 105'000);
    CHECK(add_to(Rank{0}, AtomicForm::messages, false, strict).taken == 420'000);
    const std::int64_t far = add_to(Rank{1}, AtomicForm::reference, false, strict).taken;
    CHECK(add_to(Rank{1}, AtomicForm::messages, false, strict).taken == far);
    CHECK(far > 2'000'000);
  }
}

}  // namespace
}  // namespace gasmeter::core::forms_test
