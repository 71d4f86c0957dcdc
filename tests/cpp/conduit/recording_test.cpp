#include "gasmeter/conduit/recording.hpp"

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/run/model_job.hpp"

namespace gasmeter::conduit::recording_test {
namespace {

constexpr Rank kPeer{7};

// A conduit whose calls take times that the test sets, and whose polls hand out events that the test queues.
class TimedConduit final : public Conduit {
 public:
  explicit TimedConduit(RankRecord::Instant& clock) : clock_(clock) { capabilities_.native_put = true; }

  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  Status prepare(const AmHeader&, const void*, Bytes, Bytes, AmBuffer&) override { return answer; }
  Status commit(const AmBuffer&, const AmCommit&, OperationId) override { return work(); }
  void cancel(const AmBuffer&) override {}
  Status put(Rank, void*, const void*, Bytes, OperationId, OperationId) override { return work(); }
  unsigned poll(Delivery& sink, unsigned, PollFilter) override {
    for (const auto& each : std::exchange(events, {})) each(sink);
    return 0;
  }
  [[nodiscard]] SimTime next_deadline() const override { return {77}; }

  Status answer = Status::ok;
  std::vector<std::function<void(Delivery&)>> events;

 private:
  Status work() {
    clock_.now += SimTime{100};
    return answer;
  }
  RankRecord::Instant& clock_;
  Capabilities capabilities_;
};

struct CountingSink final : Delivery {
  void arrived(const AmView&) override { ++arrivals; }
  void completed(OperationId) override { ++completions; }
  unsigned arrivals = 0;
  unsigned completions = 0;
};

struct Bench {
  RankRecord::Instant clock;
  RankRecord record{Rank{3}, [this] { return clock; }};
  TimedConduit inner{clock};
  RecordingConduit conduit{inner, record};
  CountingSink sink;

  void sleep(SimTime time) {
    clock.now += time;
    clock.idled += time;
  }
  Status send(bool is_reply, Bytes size) {
    AmBuffer buffer;
    buffer.header = {kPeer, Category::medium, is_reply, 1, 0};
    return conduit.commit(buffer, {HandlerIndex{5}, size, nullptr, arguments}, kNoOperation);
  }
  void hand_out(bool is_request, Bytes size) {
    inner.events.emplace_back([this, is_request, size](Delivery& to) {
      clock.now += SimTime{30};
      to.arrived({kPeer, Category::medium, is_request, HandlerIndex{5}, arguments, nullptr, size, 0});
    });
  }
  void poll() { (void)conduit.poll(sink, 16, PollFilter::everything); }

  std::array<std::int32_t, 1> arguments{9};
};

TEST_CASE("sends_and_deliveries_are_recorded_in_program_order_with_what_was_slept") {
  Bench bench;
  bench.clock.now = {1'000};
  bench.record.begin();
  bench.clock.now += SimTime{5};
  CHECK(bench.send(false, 64) == Status::ok);
  bench.sleep({400});
  bench.hand_out(false, 64);
  bench.hand_out(false, 64);
  bench.poll();
  bench.clock.now += SimTime{7};
  bench.record.end();
  CHECK(bench.sink.arrivals == 2);

  const auto done = bench.record.operations();
  REQUIRE(done.size() == 3);
  CHECK(done[0].kind == RecordedKind::send);
  CHECK(done[0].peer == kPeer);
  CHECK(done[0].bytes == 68);
  CHECK(done[0].begin.ps == 1'005);
  CHECK(done[0].end.ps == 1'105);
  CHECK(done[0].sequence == 0);
  CHECK(done[1].kind == RecordedKind::receive);
  CHECK(done[1].begin.ps == 1'505);
  CHECK(done[1].end.ps == 1'535);
  CHECK(done[1].idle.ps == 400);
  CHECK(done[1].bytes == 68);
  // The second event begins when the first had been taken.
  CHECK(done[2].begin.ps == 1'535);
  CHECK(done[2].end.ps == 1'565);
  CHECK(done[2].idle.ps == 0);
  CHECK(bench.record.begun().ps == 1'000);
  CHECK(bench.record.ended().ps == 1'572);
}

TEST_CASE("nothing_is_recorded_of_what_was_refused_or_stands_outside_of_the_block") {
  Bench bench;
  CHECK(bench.send(false, 8) == Status::ok);
  bench.record.begin();
  bench.inner.answer = Status::no_resource;
  CHECK(bench.send(false, 8) == Status::no_resource);
  CHECK(bench.conduit.put(kPeer, nullptr, nullptr, 8, OperationId{1}, kNoOperation) == Status::no_resource);
  CHECK(bench.conduit.get(kPeer, nullptr, nullptr, 8, OperationId{1}) == Status::unsupported);
  bench.record.end();
  bench.inner.answer = Status::ok;
  CHECK(bench.send(false, 8) == Status::ok);
  CHECK(bench.record.operations().empty());
  CHECK(bench.conduit.next_deadline().ps == 77);
}

TEST_CASE("a_put_completes_under_its_own_number_once_for_each_of_its_parts") {
  Bench bench;
  bench.record.begin();
  CHECK(bench.send(false, 8) == Status::ok);
  for (int part = 0; part < 2; ++part) {
    CHECK(bench.conduit.put(kPeer, nullptr, nullptr, 8, OperationId{4}, OperationId{6}) == Status::ok);
  }
  for (const OperationId each : {OperationId{6}, OperationId{4}, OperationId{4}, OperationId{4}}) {
    bench.inner.events.emplace_back([each](Delivery& to) { to.completed(each); });
  }
  bench.poll();
  CHECK(bench.sink.completions == 4);
  const auto done = bench.record.operations();
  REQUIRE(done.size() == 5);
  CHECK(done[1].kind == RecordedKind::put);
  CHECK(done[3].kind == RecordedKind::complete);
  CHECK(done[3].sequence == 1);
  CHECK(done[4].sequence == 2);
  CHECK(done[4].bytes == 8);
}

TEST_CASE("messages_are_matched_in_order_among_those_that_look_alike") {
  SimTime now;
  const auto clock = [&now] { return RankRecord::Instant{now, {}}; };
  std::vector<RankRecord> ranks{{Rank{0}, clock}, {Rank{1}, clock}};
  for (RankRecord& rank : ranks) rank.begin();
  for (const std::uint64_t likeness : {10U, 20U, 10U}) {
    (void)ranks[0].initiated(RecordedKind::send, Rank{1}, 8, now, likeness);
  }
  (void)ranks[0].initiated(RecordedKind::put, Rank{1}, 8, now, 10);
  // The second message overtakes the first. One more arrives that nobody has sent in this block.
  for (const std::uint64_t likeness : {20U, 10U, 10U, 10U}) {
    ranks[1].noticed(RecordedKind::receive, Rank{0}, 8, likeness);
  }
  ranks[1].noticed(RecordedKind::arrive, Rank{0}, 8, 10);
  const std::vector<std::uint64_t> expected{1, 0, 2, kUnmatched, 3};
  for (int twice = 0; twice < 2; ++twice) {
    match(ranks);
    std::vector<std::uint64_t> sequences;
    for (const Recorded& each : ranks[1].operations()) sequences.push_back(each.sequence);
    CHECK(sequences == expected);
  }
}

run::Request request(const std::string& op, const std::string& conduit, bool record) {
  static const kernels::Registry registry = kernels::Registry::with_all_kernels();
  run::Request asked = run::Request::check(registry, {"ping-pong", op, conduit, "", 64, 1, 2});
  asked.record = record;
  return asked;
}

TEST_CASE("recording_changes_no_time_and_every_message_of_a_job_has_two_ends") {
  for (const std::string op : {"am-short", "am-long", "put", "get"}) {
    CAPTURE(op);
    run::ModelJob plain(request(op, "ideal", false));
    run::ModelJob recorded(request(op, "ideal", true));
    for (int block = 0; block < 2; ++block) {
      CHECK(plain.run(5).elapsed.ps == recorded.run(5).elapsed.ps);
      CHECK(plain.block_length().ps == recorded.block_length().ps);
      const auto ranks = recorded.record();
      REQUIRE(ranks.size() == 2);
      std::array<std::size_t, 2> sent{};
      std::array<std::size_t, 2> received{};
      for (const RankRecord& rank : ranks) {
        SimTime past = rank.begun();
        for (const Recorded& each : rank.operations()) {
          CHECK(each.begin >= past);
          CHECK(each.end >= each.begin);
          CHECK(each.idle <= each.begin - past);
          CHECK(each.sequence != kUnmatched);
          past = each.end;
          ++(each.kind == RecordedKind::send ? sent : received)[index(rank.rank())];
        }
        CHECK(rank.ended() >= past);
      }
      CHECK(sent[0] == received[1]);
      CHECK(sent[1] == received[0]);
      CHECK(sent[0] >= 5);
    }
  }
}

TEST_CASE("jobs_without_a_record_say_so") {
  run::ModelJob plain(request("am-short", "ideal", false));
  (void)plain.run(1);
  CHECK_THROWS_AS((void)plain.record(), UsageError);
  run::ModelJob early(request("am-short", "ideal", true));
  CHECK_THROWS_AS((void)early.record(), UsageError);
  CHECK_THROWS_AS(run::ModelJob(request("am-short", "raw@ideal", true)), UsageError);
}

}  // namespace
}  // namespace gasmeter::conduit::recording_test
