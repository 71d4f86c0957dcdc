// Portal tables against a reference: lists that are walked literally, with random operations.
#include "gasmeter/networks/portals/match_table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <list>
#include <random>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "support/effort.hpp"

namespace gasmeter::networks::portals::match_table_test {
namespace {

// An entry and its descriptor. The reference keeps all in one list.
struct Modelled {
  MeHandle me;
  MatchEntry entry;
  bool has_md = false;
  MdHandle md;
  MemoryDescriptor descriptor;
  Unlink unlink{};
  Bytes next = 0;
  bool is_full = false;
};

struct Running {
  MdHandle md;
  bool dies;  // expected to end with its last operation
};

class Trial {
 public:
  explicit Trial(std::uint64_t seed) : random_(seed) {}

  void step() {
    switch (pick(8)) {
      case 0:
      case 1:
        attach();
        break;
      case 2:
        insert();
        break;
      case 3:
        unlink_something();
        break;
      case 4:
        finish_one();
        break;
      default:
        match();
    }
  }

 private:
  std::uint32_t pick(std::uint32_t below) {
    return std::uniform_int_distribution<std::uint32_t>(0, below - 1)(random_);
  }

  MatchEntry entry() {
    return {.match = pick(4),
            .ignore = pick(3) == 0 ? pick(4) : 0,
            .source = pick(3) == 0 ? Rank{pick(3)} : kAnyRank,
            .unlink = pick(2) == 0 ? Unlink::unlink : Unlink::retain};
  }
  void attach_md(Modelled& to) {
    if (pick(5) == 0) return;  // an entry without a descriptor
    MemoryDescriptor d = {.start = memory_.data(), .length = pick(200)};
    d.threshold = pick(2) == 0 ? 1 + pick(3) : kUnlimited;
    d.put = pick(4) != 0;
    d.get = pick(3) == 0;
    d.remote_offset = pick(2) == 0;
    d.truncate = pick(3) == 0;
    d.most = pick(2) == 0 ? std::min<Bytes>(d.length, 40) : 0;
    to.unlink = pick(2) == 0 ? Unlink::unlink : Unlink::retain;
    to.descriptor = d;
    to.md = table_.attach(to.me, d, to.unlink);
    to.has_md = true;
  }
  void attach() {
    Modelled made{.me = {}, .entry = entry(), .md = {}, .descriptor = {}};
    const Position position = pick(2) == 0 ? Position::before : Position::after;
    made.me = table_.attach(kPortal, made.entry, position);
    attach_md(made);
    all_.insert(position == Position::before ? all_.begin() : all_.end(), made);
  }
  std::list<Modelled>::iterator any() { return std::next(all_.begin(), pick(static_cast<std::uint32_t>(all_.size()))); }
  void insert() {
    if (all_.empty()) return;
    const auto where = any();
    const Position position = pick(2) == 0 ? Position::before : Position::after;
    Modelled made{.me = {}, .entry = entry(), .md = {}, .descriptor = {}};
    made.me = table_.insert(where->me, made.entry, position);
    attach_md(made);
    all_.insert(position == Position::before ? where : std::next(where), made);
  }
  bool is_running(MdHandle md) const {
    return std::any_of(running_.begin(), running_.end(), [&](const Running& each) { return each.md == md; });
  }
  void unlink_something() {
    if (all_.empty()) return;
    const auto which = any();
    const bool in_use = which->has_md && is_running(which->md);
    if (which->has_md && pick(2) == 0) {
      CHECK(table_.unlink(which->md) == !in_use);
      if (in_use) return;
      which->has_md = false;
      if (which->entry.unlink == Unlink::unlink) all_.erase(which);
    } else {
      CHECK(table_.unlink(which->me) == !in_use);
      if (!in_use) all_.erase(which);
    }
  }
  void finish_one() {
    if (running_.empty()) return;
    std::swap(running_[pick(static_cast<std::uint32_t>(running_.size()))], running_.back());
    const Running last = running_.back();
    running_.pop_back();
    table_.end(last.md);
    const bool dies = last.dies || std::any_of(gone_.begin(), gone_.end(), [&](MdHandle md) { return md == last.md; });
    CHECK(table_.is_over(last.md) == (dies && !is_running(last.md)));
    if (table_.is_over(last.md)) {
      table_.take(last.md);
      CHECK_FALSE(table_.exists(last.md));
    }
  }
  void match() {
    const Operation operation = {.kind = pick(4) == 0 ? OperationKind::get : OperationKind::put,
                                 .portal = kPortal,
                                 .source = Rank{pick(3)},
                                 .match_bits = pick(4),
                                 .remote_offset = pick(220),
                                 .length = pick(120)};
    const Match match = table_.match(operation);
    std::uint32_t steps = 0;
    for (auto each = all_.begin(); each != all_.end(); ++each) {
      ++steps;
      const MatchEntry& e = each->entry;
      bool bits = true;
      for (unsigned bit = 0; bit < 2; ++bit) {
        const bool ignored = ((e.ignore >> bit) & 1U) != 0;
        bits = bits && (ignored || ((e.match >> bit) & 1U) == ((operation.match_bits >> bit) & 1U));
      }
      if (!bits || (e.source != kAnyRank && e.source != operation.source) || !each->has_md) continue;
      MemoryDescriptor& d = each->descriptor;
      const bool allowed = operation.kind == OperationKind::put ? d.put : d.get;
      const Bytes offset = d.remote_offset ? operation.remote_offset : each->next;
      const bool fits = offset + operation.length <= d.length;
      if (!allowed || d.threshold == 0 || each->is_full || (!fits && !d.truncate)) continue;
      const Bytes begin = std::min(offset, d.length);
      const Bytes length = std::min(operation.length, d.length - begin);
      CHECK(match.md == each->md);
      CHECK(match.offset == begin);
      CHECK(match.length == length);
      CHECK(match.steps == steps);
      if (d.threshold != kUnlimited) --d.threshold;
      if (!d.remote_offset) {
        each->next = begin + length;
        each->is_full = d.most != 0 && d.length - each->next < d.most;
      }
      const bool dies = each->unlink == Unlink::unlink && (d.threshold == 0 || each->is_full);
      running_.push_back({each->md, dies});
      if (dies) {
        gone_.push_back(each->md);
        each->has_md = false;
        if (e.unlink == Unlink::unlink) all_.erase(each);
      }
      return;
    }
    CHECK_FALSE(match.md);
    CHECK(match.steps == steps);
  }

  static constexpr std::uint32_t kPortal = 38;
  std::mt19937_64 random_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(200);
  MatchTable table_{Rank{0}};
  std::list<Modelled> all_;
  std::vector<Running> running_;
  std::vector<MdHandle> gone_;  // out of the list, and still needed for their last operations
};

TEST_CASE("portals_tables_do_what_a_list_does") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    Trial trial(seed);
    for (int i = 0; i < 600; ++i) trial.step();
  }
}

TEST_CASE("portals_handles_of_what_is_gone_are_refused") {
  MatchTable table(Rank{3});
  const MeHandle entry = table.attach(0, {}, Position::after);
  const MdHandle md = table.attach(entry, {}, Unlink::retain);
  CHECK(table.unlink(md));
  CHECK_FALSE(table.exists(entry));  // the entry goes with its descriptor
  CHECK_THROWS_AS((void)table.unlink(md), UsageError);
  CHECK_THROWS_AS((void)table.unlink(entry), UsageError);
  const MdHandle next = table.bind({}, Unlink::retain);
  CHECK(next.place == md.place);
  CHECK_FALSE(table.exists(md));
  CHECK_THROWS_AS((void)table.descriptor(md), UsageError);
  const MeHandle other = table.attach(0, {}, Position::after);
  CHECK(other.place == entry.place);
  CHECK_FALSE(table.exists(entry));
}

TEST_CASE("portals_descriptors_in_use_are_not_replaced") {
  MatchTable table(Rank{0});
  const MdHandle md = table.bind({.length = 0, .threshold = 2}, Unlink::retain);
  CHECK(table.begin(md));
  CHECK_FALSE(table.update(md, {}));
  CHECK_FALSE(table.unlink(md));
  table.end(md);
  CHECK(table.begin(md));
  CHECK_FALSE(table.begin(md));  // the threshold is used up
  table.end(md);
  CHECK_FALSE(table.is_over(md));  // the descriptor stays until it is unlinked
  CHECK(table.update(md, {}));
  CHECK(table.begin(md));
}

}  // namespace
}  // namespace gasmeter::networks::portals::match_table_test
