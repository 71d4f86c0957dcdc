// Memory outside the segment that a program pins: within the limits of its conduit, against a model of them. Networks
// that pin none say so.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "cases.hpp"
#include "gasmeter/base/error.hpp"

namespace gasmeter::conformance {
namespace {

using conduit::Pin;
using conduit::PinLimits;
using testing::has_pattern;
using testing::seed_of;
using testing::write_pattern;

// Objects that share no page: each begins at a page.
struct Object {
  std::vector<std::byte> memory;
  std::uint64_t pages = 0;
  std::vector<Pin> pins{};
};

// Pinned pages and regions, and their limits.
class Model {
 public:
  explicit Model(const PinLimits& limits) : limits_(limits) {}

  enum class Answer : std::uint8_t { free, paid, refused, error };
  // Return the expected result of pinning the whole object; free: it is pinned already.
  [[nodiscard]] Answer pin(const Object& object) const {
    if (!object.pins.empty()) return Answer::free;
    if (limits_.pages != 0 && object.pages > limits_.pages) return Answer::error;
    const bool fits = (limits_.pages == 0 || pages_ + object.pages <= limits_.pages) &&
                      (limits_.regions == 0 || regions_ + 1 <= limits_.regions);
    return fits ? Answer::paid : Answer::refused;
  }
  void pinned(const Object& object) {
    pages_ += object.pages;
    ++regions_;
  }
  void unpinned(const Object& object) {
    pages_ -= object.pages;
    --regions_;
  }

 private:
  PinLimits limits_;
  std::uint64_t pages_ = 0;
  std::uint64_t regions_ = 0;
};

// Pin memory. Acquisitions that fail by plan do not fail for ever.
Status pin_at_last(conduit::Conduit& conduit, std::span<std::byte> memory, Pin& pinned) {
  constexpr int kTries = 32;
  Status status = Status::no_resource;
  for (int i = 0; i < kTries && status == Status::no_resource; ++i) status = conduit.pin(memory, pinned);
  return status;
}

template <class H>
void pin(Member<H>& me, Model& model, Object& object) {
  conduit::Conduit& conduit = *me.conduit;
  const Model::Answer answer = model.pin(object);
  // A part of pinned memory is pinned.
  std::span<std::byte> memory = object.memory;
  if (answer == Model::Answer::free && me.random() % 2 == 0) memory = memory.subspan(me.random() % memory.size());
  const SimTime before = me.endpoint.host().now();
  Pin pinned{};
  if (answer == Model::Answer::error) {
    EXPECT(me, throws<UsageError>([&] { (void)pin_at_last(conduit, memory, pinned); }));
    return;
  }
  const Status status = pin_at_last(conduit, memory, pinned);
  EXPECT(me, (status == Status::ok) == (answer != Model::Answer::refused));
  EXPECT(me, status == Status::ok || status == Status::no_resource);
  if (answer != Model::Answer::paid) EXPECT(me, me.endpoint.host().now() == before);
  if (status != Status::ok) return;
  object.pins.push_back(pinned);
  if (answer == Model::Answer::paid) model.pinned(object);
}

template <class H>
void unpin(Member<H>& me, Model& model, Object& object) {
  if (object.pins.empty()) return;
  me.conduit->unpin(object.pins.back());
  object.pins.pop_back();
  if (object.pins.empty()) model.unpinned(object);
}

// Put a part of the pinned memory to the next rank and get it back. Data arrive in the segment, since pinned memory
// may leave no room for other memory.
template <class H>
void put_from(Member<H>& me, Object& object, std::uint64_t seed) {
  if (object.pins.empty()) return;
  core::Endpoint<H>& ep = me.endpoint;
  const Bytes half = ep.segment().size / 2;
  const Bytes place = half / me.ranks();
  std::byte* const remote = ep.segment(me.next()).address + me.self() * place;
  const Bytes offset = me.random() % object.memory.size();
  const Bytes bytes = std::min(place, 1 + me.random() % (object.memory.size() - offset));
  std::byte* const from = object.memory.data() + offset;
  write_pattern(from, bytes, seed);
  ep.put(me.next(), remote, from, bytes);
  std::byte* const back = ep.segment().address + half;
  ep.get(me.next(), back, remote, bytes);
  EXPECT(me, has_pattern(back, bytes, seed));
}

template <class H>
void memory_is_pinned_within_its_limits(Member<H>& me) {
  if (me.conduit == nullptr) return;
  conduit::Conduit& conduit = *me.conduit;
  const conduit::Capabilities& can = conduit.capabilities();
  if (!can.native_pin) {
    std::byte anything{};
    Pin pinned{};
    EXPECT(me, conduit.pin({&anything, 1}, pinned) == Status::unsupported);
    EXPECT(me, throws<UsageError>([&] { conduit.unpin(pinned); }));
    return;
  }
  Model model(can.pins);
  // The last object is too large by itself, if there is a limit.
  const std::uint64_t most = can.pins.pages != 0 ? can.pins.pages : 8;
  std::vector<Object> objects;
  for (const std::uint64_t pages : {std::uint64_t{1}, std::uint64_t{1}, most / 3 + 1, most / 2 + 1, most, most + 1}) {
    objects.push_back({std::vector<std::byte>(pages * can.pins.page - me.random() % can.pins.page), pages});
  }
  me.endpoint.barrier();
  const std::uint64_t steps = rounds(120);
  for (std::uint64_t step = 0; step < steps; ++step) {
    Object& object = objects[me.random() % objects.size()];
    switch (me.random() % 5) {
      case 0:
      case 1:
        pin(me, model, object);
        break;
      case 2:
      case 3:
        unpin(me, model, object);
        break;
      default:
        put_from(me, object, seed_of(me.self(), step));
    }
    std::uint64_t pins = 0;
    for (const Object& each : objects) pins += each.pins.size();
    me.saw(pins);
  }
  for (Object& object : objects) {
    while (!object.pins.empty()) unpin(me, model, object);
    conduit.forget(object.memory);
  }
  me.endpoint.barrier();
}

}  // namespace

template <class H>
Cases<H> pin_cases() {
  return {{"memory_is_pinned_within_its_limits", memory_is_pinned_within_its_limits<H>}};
}

template Cases<RealHost> pin_cases();
template Cases<ThreadedHost> pin_cases();
template Cases<sim::ModelHost> pin_cases();

}  // namespace gasmeter::conformance
