// A shared array of one type, whose elements have global numbers [UPC: shared [block] T a[n]].
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>

#include "gasmeter/pgas/space.hpp"

namespace gasmeter::pgas {

template <class H, class T>
class SharedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // `object` was allocated with `layout`, for elements of sizeof(T) bytes. The space must outlive the array.
  SharedArray(SharedSpace<H>& space, Handle object, const Layout& layout)
      : space_(&space), object_(object), layout_(layout) {}
  // Allocate an array. The call is collective. `block` 0: all elements are at rank 0.
  [[nodiscard]] static SharedArray all(SharedSpace<H>& space, std::uint64_t elements, std::uint64_t block) {
    const Layout layout(elements, sizeof(T), block, space.ranks());
    return {space, space.all_alloc(layout), layout};
  }
  [[nodiscard]] static SharedArray all_blocked(SharedSpace<H>& space, std::uint64_t elements) {
    const Layout layout = Layout::blocked(elements, sizeof(T), space.ranks());
    return {space, space.all_alloc(layout), layout};
  }

  [[nodiscard]] Handle object() const { return object_; }
  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] std::uint64_t size() const { return layout_.elements(); }
  [[nodiscard]] Rank owner(std::uint64_t i) const { return layout_.owner(i); }
  [[nodiscard]] std::uint64_t phase(std::uint64_t i) const { return layout_.phase(i); }

  [[nodiscard]] T get(std::uint64_t i) const {
    check(i, 1);
    T value;
    space_->get(object_, layout_.owner(i), layout_.offset(i), &value, sizeof(T));
    return value;
  }
  void put(std::uint64_t i, const T& value) const {
    check(i, 1);
    space_->put(object_, layout_.owner(i), layout_.offset(i), &value, sizeof(T));
  }
  // Transfer `many` elements from the i-th on, block by block [UPC: upc_memget, upc_memput].
  void get(std::uint64_t i, T* to, std::uint64_t many) const {
    check(i, many);
    each_run(i, many, [&](std::uint64_t at, std::uint64_t count) {
      space_->get(object_, layout_.owner(at), layout_.offset(at), to + (at - i), count * sizeof(T));
    });
  }
  void put(std::uint64_t i, const T* from, std::uint64_t many) const {
    check(i, many);
    each_run(i, many, [&](std::uint64_t at, std::uint64_t count) {
      space_->put(object_, layout_.owner(at), layout_.offset(at), from + (at - i), count * sizeof(T));
    });
  }
  // Return this rank's elements, in the order of its blocks.
  [[nodiscard]] std::span<T> local() const {
    return {reinterpret_cast<T*>(space_->local(object_)), layout_.count(space_->rank())};
  }
  // Call each(i, element) for this rank's elements [UPC: upc_forall with affinity to the element].
  template <class Each>
  void for_each_local(Each each) const {
    const std::span<T> mine = local();
    for (std::uint64_t at = 0; at < mine.size(); ++at) each(layout_.element_of(space_->rank(), at), mine[at]);
  }

 private:
  template <class Run>
  void each_run(std::uint64_t i, std::uint64_t many, Run run) const {
    for (std::uint64_t at = i; at < i + many;) {
      const std::uint64_t count = std::min(layout_.run(at), i + many - at);
      run(at, count);
      at += count;
    }
  }
  GASMETER_INLINE void check(std::uint64_t i, std::uint64_t many) const {
    if (GASMETER_UNLIKELY(i >= layout_.elements() || many > layout_.elements() - i)) refuse_elements(i, many, layout_);
  }

  SharedSpace<H>* space_;
  Handle object_;
  Layout layout_;
};

}  // namespace gasmeter::pgas
