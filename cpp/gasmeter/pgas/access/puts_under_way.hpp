// Puts of a rank whose call has returned before they were complete. The same rank must not access their bytes until
// then, and a fence waits for them.
#pragma once

#include <cstdint>
#include <vector>

#include "gasmeter/base/platform.hpp"
#include "gasmeter/core/endpoint.hpp"
#include "gasmeter/pgas/directory/handle.hpp"

namespace gasmeter::pgas {

template <class H>
class PutsUnderWay {
 public:
  static constexpr std::size_t kMost = 64;  // a rank's limit; a put beyond waits for the first one

  explicit PutsUnderWay(core::Endpoint<H>& endpoint) : endpoint_(endpoint) {}

  // Wait for puts that overlap these bytes of the owner's part; called before an access to them.
  GASMETER_INLINE void before(Handle object, Rank owner, Bytes offset, Bytes bytes) {
    if (GASMETER_UNLIKELY(!records_.empty())) wait_for_overlapping(object, owner, offset, bytes);
  }
  GASMETER_INLINE void add(Handle object, Rank owner, Bytes offset, Bytes bytes, core::Event event) {
    if (!event.is_done()) keep({object, owner, offset, bytes, event});
  }
  void wait_for_all() {
    for (Record& each : records_) endpoint_.wait(each.event);
    records_.clear();
  }

 private:
  struct Record {
    Handle object;
    Rank owner{};
    Bytes offset = 0;
    Bytes bytes = 0;
    core::Event event;
  };

  GASMETER_NOINLINE void wait_for_overlapping(Handle object, Rank owner, Bytes offset, Bytes bytes) {
    std::size_t left = 0;
    for (Record& each : records_) {
      const bool overlaps = each.object == object && each.owner == owner && each.offset < offset + bytes &&
                            offset < each.offset + each.bytes;
      if (overlaps) {
        endpoint_.wait(each.event);
      } else if (!endpoint_.test(each.event)) {
        records_[left++] = each;
      }
    }
    records_.resize(left);
  }
  GASMETER_NOINLINE void keep(const Record& record) {
    if (records_.size() == kMost) {
      endpoint_.wait(records_.front().event);
      wait_for_overlapping({}, Rank{}, 0, 0);  // drops completed puts
    }
    records_.push_back(record);
  }

  core::Endpoint<H>& endpoint_;
  std::vector<Record> records_;
};

}  // namespace gasmeter::pgas
