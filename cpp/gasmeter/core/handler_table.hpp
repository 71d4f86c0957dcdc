// Handlers of active messages: which function an index of 0..255 names [EX:AM handlers].
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/platform.hpp"
#include "gasmeter/base/units.hpp"
#include "gasmeter/conduit/am.hpp"
#include "gasmeter/core/library_handlers.hpp"

namespace gasmeter::core {

template <class H>
class Token;

template <class H>
using HandlerFunction = void (*)(Token<H>&);

// What a handler may be called by [EX:registration flags]; a violation is diagnosed in checked builds, at the receiver.
enum class HandlerUse : std::uint8_t {
  any = 0,  // nothing is promised
  of_short = 1,
  of_medium = 2,
  of_long = 4,
  of_medlong = 6,
  request = 8,
  reply = 16,
  reqrep = 24,
};
[[nodiscard]] constexpr HandlerUse operator|(HandlerUse a, HandlerUse b) {
  return static_cast<HandlerUse>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr bool has(HandlerUse uses, HandlerUse any_of) {
  return (static_cast<unsigned>(uses) & static_cast<unsigned>(any_of)) != 0;
}
inline constexpr std::uint8_t kAnyArguments = 0xff;

// A row of the table that register_handlers() takes. Index 0 lets the library choose: the highest free index, rows in
// order, after all fixed ones; the choice is written back.
template <class H>
struct HandlerEntry {
  HandlerIndex index{};
  HandlerFunction<H> function = nullptr;
  void* context = nullptr;  // handed to the handler as Token::context()
  const char* name = "";    // for messages
  HandlerUse use = HandlerUse::any;
  std::uint8_t arguments = kAnyArguments;  // exactly so many; 0..16
};

// What a delivery needs of a handler, and nothing else.
template <class H>
struct HandlerRow {
  HandlerFunction<H> function = nullptr;
  void* context = nullptr;
};

// The rows by index. One look-up where time is measured.
template <class H>
class HandlerRows {
 public:
  explicit HandlerRows(const HandlerRow<H>& otherwise) { rows_.fill(otherwise); }
  [[nodiscard]] GASMETER_INLINE const HandlerRow<H>& operator[](HandlerIndex handler) const {
    return rows_[gasmeter::index(handler)];
  }
  void set(HandlerIndex handler, const HandlerRow<H>& row) { rows_[gasmeter::index(handler)] = row; }

 private:
  std::array<HandlerRow<H>, 256> rows_;
};

// Only as many as are taken where thousands of endpoints share a process: the library's indices grow from 0 up, the
// clients' from 255 down, so that both are small counted from their own end.
template <class H>
  requires H::kModelled
class HandlerRows<H> {
 public:
  explicit HandlerRows(const HandlerRow<H>& otherwise) : otherwise_(otherwise) {}
  [[nodiscard]] const HandlerRow<H>& operator[](HandlerIndex handler) const {
    const std::size_t at = place(handler);
    return at < rows_.size() ? rows_[at] : otherwise_;
  }
  void set(HandlerIndex handler, const HandlerRow<H>& row) {
    const std::size_t at = place(handler);
    if (at >= rows_.size()) rows_.resize(at + 1, otherwise_);
    rows_[at] = row;
  }

 private:
  [[nodiscard]] static std::size_t place(HandlerIndex handler) {
    const std::size_t i = gasmeter::index(handler);
    return i < kFirstClientHandler ? 2 * i : 2 * (255 - i) + 1;
  }
  HandlerRow<H> otherwise_;
  std::vector<HandlerRow<H>> rows_;
};

template <class H>
class HandlerTable {
 public:
  using Row = HandlerRow<H>;

  // `unregistered` answers for every index nobody registered.
  explicit HandlerTable(HandlerFunction<H> unregistered) : rows_({unregistered, nullptr}) {}

  void add_clients(std::span<HandlerEntry<H>> entries) {
    for (const HandlerEntry<H>& entry : entries) {
      if (gasmeter::index(entry.index) == 0) continue;
      if (gasmeter::index(entry.index) < kFirstClientHandler) {
        throw UsageError("handler index " + std::to_string(gasmeter::index(entry.index)) +
                         " is reserved; fixed indices are 128..255, 0 lets the library choose");
      }
      add(entry);
    }
    unsigned candidate = 255;
    for (HandlerEntry<H>& entry : entries) {
      if (gasmeter::index(entry.index) != 0) continue;
      while (candidate >= kFirstClientHandler && is_taken(HandlerIndex(static_cast<std::uint8_t>(candidate))))
        --candidate;
      if (candidate < kFirstClientHandler) throw UsageError("handlers: all 128 client indices 128..255 are taken");
      entry.index = HandlerIndex(static_cast<std::uint8_t>(candidate));
      add(entry);
    }
  }

  void add(const HandlerEntry<H>& entry) {
    if (entry.function == nullptr) throw UsageError("handler '" + std::string(entry.name) + "' has no function");
    if (is_taken(entry.index)) {
      throw UsageError("handler index " + std::to_string(gasmeter::index(entry.index)) + " is registered already");
    }
    rows_.set(entry.index, {entry.function, entry.context});
    entries_.push_back(entry);
    taken_[gasmeter::index(entry.index)] = true;
  }

  [[nodiscard]] const Row& operator[](HandlerIndex handler) const { return rows_[handler]; }
  // Another function in the place of what is registered.
  void replace(HandlerIndex handler, const Row& row) { rows_.set(handler, row); }
  [[nodiscard]] std::span<const HandlerEntry<H>> entries() const { return entries_; }
  // As registered; null for an index nobody registered. Valid until the next registration.
  [[nodiscard]] const HandlerEntry<H>* entry(HandlerIndex handler) const {
    for (const HandlerEntry<H>& entry : entries_) {
      if (entry.index == handler) return &entry;
    }
    return nullptr;
  }
  // Which promise of its registration a message breaks; null: none.
  [[nodiscard]] const char* broken_by(const conduit::AmView& message) const {
    using conduit::Category;
    const HandlerEntry<H>* const row = entry(message.handler);
    if (row == nullptr) return nullptr;
    const HandlerUse category = message.category == Category::short_message ? HandlerUse::of_short
                                : message.category == Category::medium      ? HandlerUse::of_medium
                                                                            : HandlerUse::of_long;
    if (has(row->use, HandlerUse::of_short | HandlerUse::of_medlong) && !has(row->use, category)) {
      return "the category of the message";
    }
    if (has(row->use, HandlerUse::reqrep) &&
        !has(row->use, message.is_request ? HandlerUse::request : HandlerUse::reply)) {
      return message.is_request ? "a request" : "a reply";
    }
    if (row->arguments != kAnyArguments && row->arguments != message.arguments.size()) {
      return "the number of arguments";
    }
    return nullptr;
  }
  [[nodiscard]] bool is_taken(HandlerIndex handler) const { return taken_[gasmeter::index(handler)]; }

 private:
  HandlerRows<H> rows_;
  std::bitset<256> taken_;
  std::vector<HandlerEntry<H>> entries_;  // few: searched where time does not matter
};

}  // namespace gasmeter::core
