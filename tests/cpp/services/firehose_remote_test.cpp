// Firehose for the memory of others: several ranks over a network that delivers in any order, against the guarantees
// of both sides, and each rule alone.
#include "gasmeter/services/firehose_remote.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "gasmeter/services/firehose_owner.hpp"
#include "support/effort.hpp"

namespace gasmeter::services::firehose_remote_test {
namespace {

using conduit::Pages;
using Held = RemoteFirehoses::Held;
using Operations = std::vector<RemoteFirehoses::Operation>;
using Buckets = std::vector<std::uint64_t>;

constexpr Rank kOwner{1};
constexpr Rank kOther{2};

struct Device {
  std::set<std::uint64_t> pinned;
  std::uint64_t most = ~std::uint64_t{0};
  Buckets unpinned;  // in order of unpinning
};
struct DevicePinner {
  struct Handle {};
  Device* device;
  std::optional<Handle> pin(const Pages& pages) {
    REQUIRE(pages.count == 1);
    if (device->pinned.size() == device->most) return std::nullopt;
    REQUIRE(device->pinned.insert(pages.first).second);
    return Handle{};
  }
  void unpin(const Pages& pages, Handle /*handle*/) {
    REQUIRE(device->pinned.erase(pages.first) == 1);
    device->unpinned.push_back(pages.first);
  }
};
using Owner = FirehoseOwner<DevicePinner>;

TEST_CASE("a_transfer_asks_once_for_all_that_is_missing_and_the_next_one_goes_at_once") {
  RemoteFirehoses mine(4);
  const auto first = mine.acquire(kOwner, {10, 3}, 1);
  CHECK(first.held == Held::waits);
  REQUIRE(first.request);
  CHECK((first.request->wanted == Buckets{10, 11, 12} && first.request->given_up.empty()));
  CHECK(mine.moved(kOwner, {first.request->number}) == Operations{1});
  const auto second = mine.acquire(kOwner, {11, 2}, 2);
  CHECK((second.held == Held::all && !second.request));
  CHECK(mine.counters() == FirehoseCounters{.hits = 1, .misses = 1, .moved = 3});
}

TEST_CASE("a_bucket_that_is_on_its_way_is_waited_for_and_not_asked_for_again") {
  RemoteFirehoses mine(4);
  const auto first = mine.acquire(kOwner, {10, 2}, 1);
  const auto second = mine.acquire(kOwner, {11, 1}, 2);
  CHECK((second.held == Held::waits && !second.request));
  const auto third = mine.acquire(kOwner, {11, 2}, 3);  // waits for both requests
  REQUIRE(third.request);
  CHECK(third.request->wanted == Buckets{12});
  CHECK(mine.moved(kOwner, {third.request->number}).empty());
  CHECK(mine.moved(kOwner, {first.request->number}) == Operations{1, 2, 3});
  CHECK(mine.counters() == FirehoseCounters{.misses = 2, .attached = 1, .moved = 3});
}

TEST_CASE("what_was_released_first_is_given_up_first_and_what_is_asked_for_is_no_victim") {
  RemoteFirehoses mine(3);
  for (const std::uint64_t bucket : {30U, 10U, 20U}) {
    const auto asked = mine.acquire(kOwner, {bucket, 1}, bucket);
    CHECK(mine.moved(kOwner, {asked.request->number}) == Operations{bucket});
  }
  for (const std::uint64_t bucket : {10U, 20U, 30U}) mine.release(kOwner, {bucket, 1});
  const auto asked = mine.acquire(kOwner, {10, 2}, 1);  // bucket 10, the oldest, is used
  REQUIRE(asked.request);
  CHECK((asked.request->wanted == Buckets{11} && asked.request->given_up == Buckets{20}));
  CHECK(mine.held(kOwner) == 3);
  CHECK(mine.acquire(kOwner, {40, 2}, 2).held == Held::refused);  // buckets 10 and 11 are in use
  CHECK(mine.has(kOwner, 30));
  CHECK(mine.acquire(kOther, {40, 2}, 3).held == Held::waits);  // each owner has firehoses of its own
}

TEST_CASE("mistakes_of_whoever_asks_are_named") {
  RemoteFirehoses mine(2);
  CHECK_THROWS_WITH_AS((void)mine.acquire(kOwner, {0, 3}, 1),
                       "firehose: 3 buckets for one transfer; 1 to 2 are allowed: transfer less at a time, or pin more "
                       "memory",
                       UsageError);
  CHECK_THROWS_AS((void)mine.acquire(kOwner, {0, 0}, 1), UsageError);
  CHECK_THROWS_WITH_AS(mine.release(kOwner, {7, 1}),
                       "firehose: bucket 7 of rank 1 is released, which nobody uses; release each use once",
                       UsageError);
  const auto asked = mine.acquire(kOwner, {7, 1}, 1);
  CHECK_THROWS_WITH_AS(mine.release(kOwner, {7, 1}),
                       "firehose: bucket 7 of rank 1 is released, which is on its way; release what is held",
                       UsageError);
  (void)mine.moved(kOwner, {asked.request->number});
  CHECK_THROWS_WITH_AS((void)mine.moved(kOwner, {asked.request->number}),
                       "firehose: reply 0 of rank 1 answers nothing that is under way; each request has one reply",
                       UsageError);
  mine.release(kOwner, {7, 1});
  CHECK_THROWS_AS(mine.release(kOwner, {7, 1}), UsageError);
}

TEST_CASE("memory_is_shared_out_in_whole_buckets") {
  const FirehoseShare share = firehose_share(1'000'000, 100'000, 4'096, 5);
  CHECK((share.peers == 4 && share.each == 61 && share.victims == 24));
  CHECK(firehose_share(0, 8'192, 4'096, 1).each == 0);
  CHECK_THROWS_WITH_AS(
      (void)firehose_share(1'048'576, 0, 4'096, 512),
      "firehose: 1048576 B pinned for 511 peers leave each no bucket of 4096 B; pin 2093056 B or more, "
      "or have smaller buckets",
      UsageError);
}

TEST_CASE("an_owner_keeps_what_nobody_holds_until_there_are_too_many_victims") {
  Device device;
  Owner owner({&device}, {.peers = 2, .each = 3, .victims = 2, .bucket = 4'096});
  CHECK(owner.move(kOwner, {7, {}, {1, 2, 3}}).number == 7);
  (void)owner.move(kOther, {0, {}, {3}});
  CHECK(owner.holders(3) == 2);
  (void)owner.move(kOwner, {8, {3, 1}, {4, 5}});
  // Bucket 1 is a victim, bucket 3 is held by another peer
  CHECK(device.pinned == std::set<std::uint64_t>{1, 2, 3, 4, 5});
  (void)owner.move(kOwner, {9, {4}, {1}});  // bucket 4 becomes a victim, bucket 1 is held again at no price
  CHECK(device.unpinned.empty());
  CHECK(owner.counters().pins == 5);
  (void)owner.move(kOwner, {10, {2, 5}, {6, 7}});
  CHECK(device.unpinned == Buckets{4});  // at most two victims: the oldest is unpinned
}

TEST_CASE("an_owner_uses_its_own_memory_beside_its_peers") {
  Device device;
  Owner owner({&device}, {.peers = 1, .each = 1, .victims = 2, .bucket = 4'096});
  CHECK(owner.acquire(1));
  CHECK(owner.acquire(1));
  CHECK(owner.acquire(2));
  CHECK_FALSE(owner.acquire(3));
  (void)owner.move(kOther, {0, {}, {9}});  // moves are never refused
  CHECK(device.pinned.size() == 3);
  owner.release(1);
  CHECK_FALSE(owner.acquire(3));
  owner.release(1);
  CHECK(owner.acquire(3));
  CHECK(device.unpinned == Buckets{1});
  CHECK_THROWS_WITH_AS(owner.release(1),
                       "firehose: bucket 1 is released, which its owner does not use; release each use once",
                       UsageError);
}

TEST_CASE("an_owner_names_what_a_peer_may_not_do") {
  Device device;
  Owner owner({&device}, {.peers = 1, .each = 2, .victims = 0, .bucket = 4'096});
  CHECK_THROWS_WITH_AS((void)owner.move(kOther, {0, {5}, {6}}),
                       "firehose: bucket 5 is given up by rank 2, which does not hold it; each is given up once",
                       UsageError);
  CHECK_THROWS_WITH_AS((void)owner.move(kOther, {0, {}, {1, 2, 3}}),
                       "firehose: a peer that holds 0 buckets gives up 0 and wants 3; it may hold 2", UsageError);
  device.most = 1;
  CHECK_THROWS_WITH_AS((void)owner.move(kOther, {0, {}, {1, 2}}),
                       "firehose: the system does not pin bucket 2 beside 1 others; 2 were promised to peers: promise "
                       "less memory",
                       ResourceError);
}

TEST_CASE("an_owner_refuses_a_request_that_no_peer_of_good_will_makes_and_changes_nothing") {
  Device device;
  Owner owner({&device}, {.peers = 2, .each = 3, .victims = 0, .bucket = 4'096});
  (void)owner.move(kOwner, {0, {}, {5, 6}});
  (void)owner.move(kOther, {0, {}, {6, 7}});
  const auto expect_refused = [&](Rank from, const MoveRequest& request, const char* why) {
    CHECK_THROWS_WITH_AS((void)owner.move(from, request), why, UsageError);
    CHECK(owner.holders(5) == 1);
    CHECK(owner.holders(6) == 2);
    CHECK(owner.holders(7) == 1);
    CHECK(device.pinned == std::set<std::uint64_t>{5, 6, 7});
  };
  expect_refused(kOwner, {1, {5, 5}, {8}}, "firehose: a request of rank 1 names bucket 5 twice; once is allowed");
  expect_refused(kOwner, {1, {6, 6}, {8}}, "firehose: a request of rank 1 names bucket 6 twice; once is allowed");
  expect_refused(kOwner, {1, {}, {8, 8}}, "firehose: a request of rank 1 names bucket 8 twice; once is allowed");
  expect_refused(kOwner, {1, {7}, {8}},
                 "firehose: bucket 7 is given up by rank 1, which does not hold it; each is given up once");
  expect_refused(kOwner, {1, {}, {~std::uint64_t{0}}},
                 "firehose: a request of rank 1 names bucket 18446744073709551615; memory has buckets below "
                 "4503599627370495");
  // A bucket is wanted again before the request that gives it up has arrived.
  (void)owner.move(kOther, {2, {7}, {6}});
  CHECK(owner.holders(6) == 3);
  (void)owner.move(kOther, {1, {6}, {7}});
  CHECK(owner.holders(6) == 2);
  CHECK(owner.holders(7) == 1);
}

// Ranks that use each other's memory, by messages that overtake each other, beside a plain account of all holdings.
struct World {
  struct Message {
    std::size_t from;  // the requester
    std::size_t to;    // the owner
    MoveRequest request;
    bool answered;
  };
  struct Use {
    std::size_t user;
    std::size_t owner;
    Pages buckets;
    bool held;
  };
  struct Account {
    std::uint64_t uses = 0;
    std::uint64_t unused_since = 0;
  };

  std::mt19937_64 random;
  FirehoseShare share;
  std::deque<Device> devices;
  std::deque<Owner> owners;
  std::vector<RemoteFirehoses> users;
  std::vector<Message> under_way;
  std::map<std::uint64_t, Use> uses;                                                         // by operation
  std::map<std::pair<std::size_t, std::size_t>, std::map<std::uint64_t, Account>> accounts;  // by user and owner
  std::vector<std::pair<std::size_t, std::uint64_t>> local_uses;  // local uses: owner, bucket
  std::uint64_t clock = 0;

  World(std::uint64_t seed, std::size_t ranks) : random(seed), share{ranks - 1, 2 + below(5), below(5), 4'096} {
    devices.resize(ranks);
    for (std::size_t i = 0; i < ranks; ++i) owners.emplace_back(DevicePinner{&devices[i]}, share);
    users.assign(ranks, RemoteFirehoses(share.each));
  }
  std::uint64_t below(std::uint64_t end) { return random() % end; }
  static Rank rank(std::size_t number) { return Rank{static_cast<std::uint32_t>(number)}; }

  void acquire(std::uint64_t memory) {
    const std::size_t user = below(users.size());
    const std::size_t owner = (user + 1 + below(users.size() - 1)) % users.size();
    const Pages buckets{below(memory), 1 + below(std::min<std::uint64_t>(3, share.each))};
    std::map<std::uint64_t, Account>& account = accounts[{user, owner}];
    std::uint64_t in_use = 0;
    for (const auto& each : account) {
      if (each.second.uses != 0 || buckets.holds({each.first, 1})) ++in_use;
    }
    Buckets wanted;
    for (std::uint64_t bucket = buckets.first; bucket < buckets.end(); ++bucket) {
      if (!account.contains(bucket)) wanted.push_back(bucket);
    }
    const std::uint64_t operation = ++clock;
    const auto answer = users[user].acquire(rank(owner), buckets, operation);
    REQUIRE((answer.held == Held::refused) == (in_use + wanted.size() > share.each));
    if (answer.held == Held::refused) return;
    for (std::uint64_t bucket = buckets.first; bucket < buckets.end(); ++bucket) ++account[bucket].uses;
    REQUIRE(answer.request.has_value() == !wanted.empty());
    if (answer.request) {
      CHECK(answer.request->wanted == wanted);
      for (const std::uint64_t given_up : answer.request->given_up) {
        const Account& victim = account.at(given_up);
        REQUIRE(victim.uses == 0);
        for (const auto& other : account) {
          CHECK((other.second.uses != 0 || other.second.unused_since >= victim.unused_since));
        }
        account.erase(given_up);
      }
      under_way.push_back({user, owner, *answer.request, false});
    }
    CHECK(users[user].held(rank(owner)) == account.size());
    CHECK(account.size() <= share.each);
    uses.emplace(operation, Use{user, owner, buckets, answer.held == Held::all});
  }
  void release() {
    auto use = uses.begin();
    std::advance(use, static_cast<std::ptrdiff_t>(below(uses.size())));
    const auto [user, owner, buckets, held] = use->second;
    if (!held) return;
    users[user].release(rank(owner), buckets);
    for (std::uint64_t bucket = buckets.first; bucket < buckets.end(); ++bucket) {
      Account& account = accounts[{user, owner}].at(bucket);
      if (--account.uses == 0) account.unused_since = ++clock;
    }
    uses.erase(use);
  }
  void deliver() {
    std::swap(under_way[below(under_way.size())], under_way.back());
    Message& message = under_way.back();
    if (!message.answered) {
      CHECK(owners[message.to].move(rank(message.from), message.request).number == message.request.number);
      message.answered = true;
      return;
    }
    for (const std::uint64_t operation : users[message.from].moved(rank(message.to), {message.request.number})) {
      CHECK_FALSE(uses.at(operation).held);
      uses.at(operation).held = true;
    }
    under_way.pop_back();
  }
  void use_own(std::uint64_t memory) {
    if (below(2) == 0) {
      const std::size_t owner = below(owners.size());
      const std::uint64_t bucket = below(memory);
      if (owners[owner].acquire(bucket)) local_uses.emplace_back(owner, bucket);
    } else if (!local_uses.empty()) {
      std::swap(local_uses[below(local_uses.size())], local_uses.back());
      owners[local_uses.back().first].release(local_uses.back().second);
      local_uses.pop_back();
    }
  }

  void check() {
    // Compute the holders at each owner: buckets requested but not yet delivered do not count, buckets given up but
    // not yet returned do.
    std::vector<std::map<std::uint64_t, std::uint64_t>> holders(owners.size());
    std::map<std::pair<std::size_t, std::size_t>, std::set<std::uint64_t>> on_its_way;
    for (const auto& [who, account] : accounts) {
      for (const auto& [bucket, each] : account) ++holders[who.second][bucket];
    }
    for (const Message& each : under_way) {
      for (const std::uint64_t bucket : each.request.wanted) {
        CHECK(on_its_way[{each.from, each.to}].insert(bucket).second);  // requested once
        if (!each.answered) --holders[each.to][bucket];
      }
      if (each.answered) continue;
      for (const std::uint64_t bucket : each.request.given_up) ++holders[each.to][bucket];
    }
    for (std::size_t i = 0; i < owners.size(); ++i) {
      std::set<std::uint64_t> used;
      for (const auto& each : holders[i]) {
        CHECK(owners[i].holders(each.first) == each.second);
        if (each.second != 0) used.insert(each.first);
      }
      for (const auto& each : local_uses) {
        if (each.first == i) used.insert(each.second);
      }
      for (const std::uint64_t bucket : used) CHECK(devices[i].pinned.contains(bucket));
      CHECK(devices[i].pinned.size() == owners[i].pinned_buckets());
      CHECK(devices[i].pinned.size() - used.size() <= share.victims);
      CHECK(devices[i].pinned.size() <= share.peers * share.each + share.victims);
    }
    for (const auto& each : uses) {
      const Use& use = each.second;
      bool held = true;
      for (std::uint64_t bucket = use.buckets.first; bucket < use.buckets.end(); ++bucket) {
        const bool waits = on_its_way[{use.user, use.owner}].contains(bucket);
        held = held && !waits;
        CHECK((waits || devices[use.owner].pinned.contains(bucket)));
      }
      CHECK(use.held == held);  // neither before nor after its last bucket
    }
  }
};

TEST_CASE("no_bucket_is_unpinned_while_held_and_owners_count_what_others_hold_in_whatever_order_messages_come") {
  FirehoseCounters all;
  std::uint64_t evictions = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    World world(seed, 2 + seed % 3);
    const std::uint64_t memory = 6 + world.below(30);
    const std::uint64_t steps = testing::rounds(500);
    for (std::uint64_t step = 0; step < steps; ++step) {
      const std::uint64_t action = world.below(10);
      if (action < 4) {
        if (world.uses.size() < 12) world.acquire(memory);
      } else if (action < 6) {
        if (!world.uses.empty()) world.release();
      } else if (action < 9) {
        if (!world.under_way.empty()) world.deliver();
      } else {
        world.use_own(memory);
      }
      world.check();
    }
    while (!world.under_way.empty()) world.deliver();
    world.check();
    for (const auto& each : world.uses) REQUIRE(each.second.held);
    while (!world.uses.empty()) world.release();
    world.check();
    for (const RemoteFirehoses& each : world.users) {
      all.hits += each.counters().hits;
      all.attached += each.counters().attached;
      all.refused += each.counters().refused;
      all.given_up += each.counters().given_up;
    }
    for (const Owner& each : world.owners) evictions += each.counters().evictions;
  }
  CHECK((all.hits > 0 && all.attached > 0 && all.refused > 0 && all.given_up > 0 && evictions > 0));
}

}  // namespace
}  // namespace gasmeter::services::firehose_remote_test
