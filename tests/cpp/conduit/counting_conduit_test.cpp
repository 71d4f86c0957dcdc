#include "gasmeter/conduit/counting_conduit.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace gasmeter::conduit::counting_conduit_test {
namespace {

// A conduit that answers as the test sets it.
class AnsweringConduit final : public Conduit {
 public:
  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  Status prepare(const AmHeader&, const void*, Bytes, Bytes, AmBuffer&) override { return answer; }
  Status commit(const AmBuffer&, const AmCommit&, OperationId) override { return answer; }
  void cancel(const AmBuffer&) override { ++cancelled; }
  Status put(Rank, void*, const void*, Bytes, OperationId, OperationId) override { return answer; }
  Status get(Rank, void*, const void*, Bytes, OperationId) override { return answer; }
  [[nodiscard]] bool offloads(AtomicType type, AtomicOps ops) const override {
    return type == AtomicType::u64 && ops == AtomicOps{AtomicOp::add};
  }
  Status atomic(Rank, const RemoteAtomic&, OperationId) override { return answer; }
  unsigned poll(Delivery&, unsigned budget, PollFilter) override { return budget; }
  [[nodiscard]] SimTime next_deadline() const override { return {77}; }
  Status answer = Status::ok;
  unsigned cancelled = 0;

 private:
  Capabilities capabilities_;
};

struct NoSink final : Delivery {
  void arrived(const AmView&) override {}
  void completed(OperationId) override {}
};

Counts counts_of(const CountsItself& conduit) {
  Counts counts;
  conduit.add_to(counts);
  return counts;
}

TEST_CASE("what_is_taken_is_counted_with_its_bytes_and_what_is_refused_as_a_stall") {
  AnsweringConduit inner;
  CountingConduit conduit(inner);
  AmBuffer buffer;
  AmCommit message;
  message.size = 100;
  CHECK(conduit.prepare({}, nullptr, 0, 200, buffer) == Status::ok);
  CHECK(counts_of(conduit).of(Count::messages) == 0U);  // a message counts when it is sent
  CHECK(conduit.commit(buffer, message, kNoOperation) == Status::ok);
  CHECK(conduit.put(Rank{1}, nullptr, nullptr, 8, kNoOperation, kNoOperation) == Status::ok);
  CHECK(conduit.get(Rank{1}, nullptr, nullptr, 16, kNoOperation) == Status::ok);
  CHECK(conduit.atomic(Rank{1}, {.type = AtomicType::i32}, kNoOperation) == Status::ok);
  CHECK(conduit.atomic(Rank{1}, {.type = AtomicType::f64}, kNoOperation) == Status::ok);
  inner.answer = Status::no_resource;
  CHECK(conduit.atomic(Rank{1}, {}, kNoOperation) == Status::no_resource);
  CHECK(conduit.prepare({}, nullptr, 0, 200, buffer) == Status::no_resource);
  CHECK(conduit.commit(buffer, message, kNoOperation) == Status::no_resource);
  CHECK(conduit.put(Rank{1}, nullptr, nullptr, 8, kNoOperation, kNoOperation) == Status::no_resource);
  CHECK(conduit.get(Rank{1}, nullptr, nullptr, 16, kNoOperation) == Status::no_resource);
  inner.answer = Status::unsupported;  // an unsupported call is not repeated, so that it is no stall
  CHECK(conduit.put(Rank{1}, nullptr, nullptr, 8, kNoOperation, kNoOperation) == Status::unsupported);
  const Counts counts = counts_of(conduit);
  CHECK(counts.of(Count::messages) == 1U);
  CHECK(counts.of(Count::transfers) == 4U);
  CHECK(counts.of(Count::payload_bytes) == 136U);
  CHECK(counts.of(Count::stalls) == 5U);
}

TEST_CASE("everything_else_reaches_the_conduit_behind_it") {
  AnsweringConduit inner;
  CountingConduit conduit(inner);
  NoSink sink;
  conduit.cancel({});
  CHECK(inner.cancelled == 1);
  CHECK(conduit.poll(sink, 3, PollFilter::everything) == 3);
  CHECK(conduit.next_deadline() == SimTime{77});
  CHECK(&conduit.capabilities() == &inner.capabilities());
  CHECK(conduit.offloads(AtomicType::u64, {AtomicOp::add}));
  CHECK_FALSE(conduit.offloads(AtomicType::i64, {AtomicOp::add}));
  CHECK_FALSE(conduit.offloads(AtomicType::u64, {AtomicOp::get}));
}

TEST_CASE("counts_of_several_add_up_and_what_nobody_counts_is_absent") {
  Counts counts;
  counts.add(Count::retransmits, 0);
  counts.add(Count::messages, 2);
  counts.add(Count::messages, 3);
  CHECK(counts.of(Count::messages) == 5U);
  CHECK(counts.of(Count::retransmits) == 0U);
  CHECK_FALSE(counts.of(Count::credits).has_value());
}

TEST_CASE("every_count_has_a_name_of_its_own") {
  std::set<std::string> names;
  for (unsigned i = 0; i < static_cast<unsigned>(Count::count_); ++i) {
    REQUIRE(name_of(static_cast<Count>(i)) != nullptr);
    names.insert(name_of(static_cast<Count>(i)));
  }
  CHECK(names.size() == static_cast<std::size_t>(Count::count_));
  CHECK(std::string(name_of(Count::interrupts)) == "interrupts");
}

}  // namespace
}  // namespace gasmeter::conduit::counting_conduit_test
