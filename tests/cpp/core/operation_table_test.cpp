#include "gasmeter/core/operation_table.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <random>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "support/effort.hpp"

namespace gasmeter::core::operation_table_test {
namespace {

using testing::rounds;

// A plain model of the table: a list of all operations ever started.
struct Model {
  struct Operation {
    OperationId id{};
    OperationKind kind{};
    std::uint32_t remaining = 0;
    bool implicit = false;
    std::optional<std::size_t> region;
    bool over = false;  // consumed, withdrawn, or complete and implicit
    Event event;
  };
  struct Region {
    bool open = true;
    bool over = false;
    Event event;
  };
  std::vector<Operation> operations;
  std::vector<Region> regions;

  [[nodiscard]] std::uint32_t remaining_of(std::size_t region) const {
    std::uint32_t count = 0;
    for (const Operation& o : operations) count += o.region == region && !o.over ? 1U : 0U;
    return count;
  }
  [[nodiscard]] std::uint32_t outstanding() const {
    std::uint32_t count = 0;
    for (const Operation& o : operations) count += o.over ? 0U : 1U;
    for (const Region& r : regions) count += r.over ? 0U : 1U;
    return count;
  }
  [[nodiscard]] bool is_complete(EventSet set) const {
    const auto named = static_cast<unsigned>(set);
    for (const Operation& o : operations) {
      const unsigned bit = 1U << static_cast<unsigned>(o.kind);
      if (o.implicit && !o.region && !o.over && (named & bit) != 0) return false;
    }
    return true;
  }
};

class Player {
 public:
  explicit Player(std::uint64_t seed) : random_(seed) {}

  void step() {
    switch (random_() % 8) {
      case 0:
        start(false);
        break;
      case 1:
        start(true);
        break;
      case 2:
      case 3:
      case 4:
        complete();
        break;
      case 5:
        test();
        break;
      case 6:
        switch_region();
        break;
      default:
        withdraw();
    }
    check();
  }

  void drain() {
    if (!model_.regions.empty() && model_.regions.back().open) switch_region();
    for (Model::Operation& o : model_.operations) {
      while (!o.over && o.remaining != 0) complete_one(o);
    }
    for (Model::Operation& o : model_.operations) {
      if (o.over) continue;
      REQUIRE(table_.test(o.event));
      o.over = true;
    }
    for (Model::Region& r : model_.regions) {
      if (r.over) continue;
      REQUIRE(table_.test(r.event));
      r.over = true;
    }
    CHECK(table_.outstanding() == 0);
    CHECK(group_.is_complete(EventSet::all));
  }

 private:
  void start(bool implicit) {
    const auto kind = static_cast<OperationKind>(random_() % kOperationKinds);
    const auto parts = static_cast<std::uint32_t>(1 + random_() % 4);
    Model::Operation o;
    o.id = table_.start(kind, parts, implicit ? &group_ : nullptr);
    o.kind = kind;
    o.remaining = parts;
    o.implicit = implicit;
    if (implicit && !model_.regions.empty() && model_.regions.back().open) o.region = model_.regions.size() - 1;
    if (!implicit) o.event = table_.event_of(o.id);
    model_.operations.push_back(o);
  }

  void complete_one(Model::Operation& o) {
    table_.complete(o.id);
    if (--o.remaining == 0 && o.implicit) o.over = true;
  }
  void complete() {
    std::vector<Model::Operation*> open;
    for (Model::Operation& o : model_.operations) {
      if (!o.over && o.remaining != 0) open.push_back(&o);
    }
    if (!open.empty()) complete_one(*open[random_() % open.size()]);
  }
  // Withdraw an operation that was just started, of which nothing is in flight.
  void withdraw() {
    start(random_() % 2 == 0);
    table_.withdraw(model_.operations.back().id);
    model_.operations.pop_back();
  }

  void test() {
    for (Model::Operation& o : model_.operations) {
      if (o.implicit || o.over || random_() % 2 == 0) continue;
      const bool done = o.remaining == 0;
      REQUIRE(table_.test(o.event) == done);
      CHECK(o.event.is_done() == done);
      o.over = done;
    }
    for (std::size_t i = 0; i < model_.regions.size(); ++i) {
      Model::Region& r = model_.regions[i];
      if (r.open || r.over) continue;
      const bool done = model_.remaining_of(i) == 0;
      REQUIRE(table_.test(r.event) == done);
      r.over = done;
    }
  }

  void switch_region() {
    if (!model_.regions.empty() && model_.regions.back().open) {
      CHECK_THROWS_AS(table_.begin_region(group_), UsageError);
      Model::Region& r = model_.regions.back();
      r.event = table_.end_region(group_);
      r.open = false;
      const bool done = model_.remaining_of(model_.regions.size() - 1) == 0;
      CHECK(r.event.is_done() == done);
      r.over = done;
    } else {
      CHECK_THROWS_AS((void)table_.end_region(group_), UsageError);
      table_.begin_region(group_);
      model_.regions.emplace_back();
    }
  }

  void check() {
    REQUIRE(table_.outstanding() == model_.outstanding());
    for (const EventSet set : {EventSet::put, EventSet::get, EventSet::am, EventSet::local, EventSet::all}) {
      REQUIRE(group_.is_complete(set) == model_.is_complete(set));
    }
  }

  std::mt19937_64 random_;
  OperationTable table_;
  ImplicitGroup group_;
  Model model_;
};

TEST_CASE("operation_table_does_what_a_list_would") {
  for (std::uint64_t seed = 1; seed <= rounds(60); ++seed) {
    Player player(seed);
    for (unsigned step = 0; step < 400; ++step) player.step();
    player.drain();
  }
}

TEST_CASE("groups_are_independent") {
  OperationTable table;
  ImplicitGroup mine;
  ImplicitGroup theirs;
  const OperationId put = table.start(OperationKind::put, 1, &mine);
  table.begin_region(theirs);  // another thread's region, which does not nest
  const OperationId get = table.start(OperationKind::get, 2, &theirs);
  CHECK_FALSE(mine.is_complete(EventSet::put));
  CHECK(mine.is_complete(EventSet::get));
  CHECK(theirs.is_complete(EventSet::all));
  Event region = table.end_region(theirs);
  CHECK_FALSE(table.test(region));
  table.complete(put);
  CHECK(mine.is_complete(EventSet::all));
  table.complete(get);
  CHECK_FALSE(table.test(region));
  table.complete(get);
  CHECK(table.test(region));
  CHECK(table.outstanding() == 0);
}

TEST_CASE("event_is_consumed_by_success_alone") {
  OperationTable table;
  const OperationId id = table.start(OperationKind::put, 2, nullptr);
  Event event = table.event_of(id);
  Event copy = event;
  CHECK_FALSE(table.test(event));
  CHECK(event == copy);
  table.complete(id);
  CHECK_FALSE(table.test(event));
  table.add_parts(id, 1);
  table.complete(id);
  table.complete(id);
  CHECK(table.test(event));
  CHECK(event.is_done());
  CHECK(table.test(event));
  CHECK_THROWS_AS((void)table.test(copy), UsageError);
}

TEST_CASE("no_op_and_unknown_events_are_refused") {
  OperationTable table;
  Event no_op = Event::no_op();
  CHECK(no_op.is_no_op());
  CHECK_THROWS_AS((void)table.test(no_op), UsageError);
  OperationTable other;
  Event theirs = other.event_of(other.start(OperationKind::get, 1, nullptr));
  CHECK_THROWS_AS((void)table.test(theirs), UsageError);
  Event done;
  CHECK(table.test(done));
}

TEST_CASE("slots_are_reused_and_the_promised_number_is_outstanding_at_once") {
  OperationTable table;
  std::vector<Event> events;
  for (unsigned lap = 0; lap < 2; ++lap) {
    for (unsigned i = 0; i < 65'535; ++i) {
      const OperationId id = table.start(OperationKind::put, 1, nullptr);
      CHECK(static_cast<std::uint32_t>(id) < 65'535);
      events.push_back(table.event_of(id));
      table.complete(id);
    }
    CHECK(table.outstanding() == 65'535);
    for (Event& event : events) REQUIRE(table.test(event));
    events.clear();
    CHECK(table.outstanding() == 0);
  }
}

// ---- leaves and arrays

struct Put {
  explicit Put(OperationTable& table)
      : root(table.start(OperationKind::put, 1, nullptr)),
        leaf(table.start_leaf(root, 1)),
        of_root(table.event_of(root)),
        of_leaf(table.event_of(leaf)) {}
  OperationId root;
  OperationId leaf;
  Event of_root;
  Event of_leaf;
};

TEST_CASE("a leaf is done with its copy or with its root") {
  OperationTable table;
  Put put(table);
  CHECK(table.leaf_of(put.of_root) == put.of_leaf);
  CHECK(table.leaf_of(put.of_root) == put.of_leaf);  // a query without effect
  CHECK(table.is_leaf(put.of_leaf));
  CHECK_FALSE(table.is_leaf(put.of_root));
  CHECK_FALSE(table.test(put.of_leaf));
  table.complete(put.leaf);
  CHECK(table.test(put.of_leaf));
  CHECK(table.leaf_of(put.of_root).is_done());
  CHECK_FALSE(table.test(put.of_root));
  table.complete(put.root);
  CHECK(table.test(put.of_root));
  CHECK(table.outstanding() == 0);

  // The network reports the root first.
  Put late(table);
  table.complete(late.root);
  CHECK(table.test(late.of_leaf));
  CHECK(table.test(late.of_root));
  CHECK(table.outstanding() == 1);
  table.complete(late.leaf);
  CHECK(table.outstanding() == 0);
}

TEST_CASE("a root takes its leaf with it") {
  for (const bool told_before : {true, false}) {
    CAPTURE(told_before);
    OperationTable table;
    Put put(table);
    if (told_before) table.complete(put.leaf);
    table.complete(put.root);
    CHECK(table.test(put.of_root));
    // A late report of the leaf must not hit an operation that reuses its slot.
    const OperationId other = table.start(OperationKind::get, 1, nullptr);
    Event of_other = table.event_of(other);
    if (!told_before) table.complete(put.leaf);
    CHECK_FALSE(table.test(of_other));
    table.complete(other);
    CHECK(table.test(of_other));
    CHECK(table.outstanding() == 0);
  }
  OperationTable table;
  Put refused(table);
  table.withdraw(refused.root);
  CHECK(table.outstanding() == 0);
}

TEST_CASE("a put of a group is complete at this side before it is complete as a whole") {
  const auto root_of = [](OperationTable& table, ImplicitGroup& group) {
    return table.start(OperationKind::put, 2, &group);
  };
  OperationTable table;
  ImplicitGroup group;
  const OperationId root = root_of(table, group);
  const OperationId local = table.start_local(root, 2, LocalCompletion::group(), &group);
  CHECK(table.start_local(root, 2, LocalCompletion::defer(), &group) == conduit::kNoOperation);
  CHECK(table.start_local(root, 2, LocalCompletion::group(), nullptr) == conduit::kNoOperation);
  table.complete(local);
  CHECK_FALSE(group.is_complete(EventSet::local));
  table.complete(local);
  CHECK(group.is_complete(EventSet::local));
  CHECK_FALSE(group.is_complete(EventSet::put));
  table.complete(root);
  table.complete(root);
  CHECK(group.is_complete(EventSet::all));

  const OperationId refused = root_of(table, group);
  table.withdraw(refused, table.start_local(refused, 2, LocalCompletion::group(), &group));
  CHECK(group.is_complete(EventSet::all));
  CHECK(table.outstanding() == 0);
}

TEST_CASE("a region's leaf is complete when the sources of all its puts are free") {
  for (const bool with_another : {false, true}) {
    CAPTURE(with_another);
    OperationTable table;
    ImplicitGroup group;
    table.begin_region(group);
    const OperationId put = table.start(OperationKind::put, 1, &group);
    const OperationId local = table.start_local(put, 1, LocalCompletion::group(), &group);
    OperationId other{};
    if (with_another) other = table.start(OperationKind::put, 1, &group);  // its source becomes free with the whole put
    const OperationId get = table.start(OperationKind::get, 1, &group);
    const OperationId refused = table.start(OperationKind::put, 1, &group);
    table.withdraw(refused, table.start_local(refused, 1, LocalCompletion::group(), &group));
    Event region = table.end_region(group);
    Event leaf = table.leaf_of(region);
    CHECK_FALSE(table.test(leaf));
    table.complete(local);
    if (with_another) {
      CHECK_FALSE(table.test(leaf));
      table.complete(other);
    }
    CHECK(table.test(leaf));
    CHECK_FALSE(table.test(region));
    table.complete(put);
    table.complete(get);
    CHECK(table.test(region));
    CHECK(table.outstanding() == 0);
  }
}

TEST_CASE("a region's leaf is complete when the region is, and goes with it") {
  for (const bool leaf_first : {true, false}) {
    OperationTable table;
    ImplicitGroup group;
    table.begin_region(group);
    const OperationId put = table.start(OperationKind::put, 1, &group);
    Event region = table.end_region(group);
    Event leaf = table.leaf_of(region);
    CHECK(leaf == table.leaf_of(region));
    CHECK(table.is_leaf(leaf));
    CHECK_FALSE(table.test(leaf));
    table.complete(put);
    if (leaf_first) {
      CHECK(table.test(leaf));
      CHECK(table.leaf_of(region).is_done());
    }
    CHECK(table.test(region));
    CHECK(table.outstanding() == 0);
  }
}

TEST_CASE("arrays: done entries are consumed whatever the answer, leaves may stand behind their roots") {
  OperationTable table;
  std::vector<Event> none(3);
  CHECK(table.test_some(none));
  CHECK(table.test_all(none));
  CHECK(table.test_some({}));
  Put put(table);
  const OperationId other = table.start(OperationKind::get, 1, nullptr);
  std::vector<Event> events{put.of_root, Event::done(), table.event_of(other), put.of_leaf};
  CHECK_FALSE(table.test_some(events));
  CHECK_FALSE(table.test_all(events));
  table.complete(put.leaf);
  table.complete(put.root);
  CHECK_FALSE(table.test_all(events));
  CHECK(events[0].is_done());
  CHECK(events[3].is_done());
  CHECK_FALSE(events[2].is_done());
  CHECK_FALSE(table.test_some(events));  // one event is left, and it is not complete
  table.complete(other);
  CHECK(table.test_some(events));
  CHECK(table.test_all(events));
  CHECK(table.outstanding() == 0);
  std::vector<Event> refused{Event::no_op()};
  CHECK_THROWS_AS((void)table.test_all(refused), UsageError);
}

}  // namespace
}  // namespace gasmeter::core::operation_table_test
