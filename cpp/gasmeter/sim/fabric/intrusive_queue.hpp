// A queue of elements that carry their own link.
#pragma once

#include <utility>

namespace gasmeter::sim {

// First in, first out; the queue owns nothing. T has a member `next`, a pointer to T or to a base of it, which belongs
// to the queue while it holds the element.
template <class T>
class IntrusiveQueue {
 public:
  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  [[nodiscard]] T* front() const { return first_; }
  void push(T* element) {
    element->next = nullptr;
    if (first_ == nullptr) {
      first_ = element;
    } else {
      last_->next = element;
    }
    last_ = element;
  }
  [[nodiscard]] T* pop() { return std::exchange(first_, static_cast<T*>(first_->next)); }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace gasmeter::sim
