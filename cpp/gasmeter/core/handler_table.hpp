// Table from handler index (0..255) to handler function [EX:AM handlers].
#pragma once

#include <algorithm>
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

// Messages that may call a handler [EX:registration flags]. Checked builds diagnose violations at the receiver.
enum class HandlerUse : std::uint8_t {
  any = 0,  // no restriction
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

// A row for register_handlers(). Index 0 lets the library choose the highest free index. Such rows are served in
// order, after all fixed ones, and the choice is written back.
template <class H>
struct HandlerEntry {
  HandlerIndex index{};
  HandlerFunction<H> function = nullptr;
  void* context = nullptr;  // returned by Token::context()
  const char* name = "";    // for messages
  HandlerUse use = HandlerUse::any;
  std::uint8_t arguments = kAnyArguments;  // exact number of arguments, 0..16
};

// The part of a handler that a delivery needs.
template <class H>
struct HandlerRow {
  HandlerFunction<H> function = nullptr;
  void* context = nullptr;
};

// Handlers that every endpoint registers alike. Endpoints share one object, since a process may have thousands of
// endpoints.
template <class H>
class HandlerLibrary {
 public:
  explicit HandlerLibrary(std::span<const HandlerEntry<H>> entries, const HandlerRow<H>& otherwise)
      : entries_(entries.begin(), entries.end()) {
    for (const HandlerEntry<H>& entry : entries_) {
      const std::size_t at = gasmeter::index(entry.index);
      if (at >= rows_.size()) rows_.resize(at + 1, otherwise);
      rows_[at] = {entry.function, entry.context};
    }
  }
  [[nodiscard]] std::span<const HandlerEntry<H>> entries() const { return entries_; }
  [[nodiscard]] std::span<const HandlerRow<H>> rows() const { return rows_; }  // from index 0 on

 private:
  std::vector<HandlerEntry<H>> entries_;
  std::vector<HandlerRow<H>> rows_;
};

// Rows by index. Real hosts need a single look-up.
template <class H>
class HandlerRows {
 public:
  explicit HandlerRows(const HandlerRow<H>& otherwise) { rows_.fill(otherwise); }
  [[nodiscard]] GASMETER_INLINE const HandlerRow<H>& operator[](HandlerIndex handler) const {
    return rows_[gasmeter::index(handler)];
  }
  void set(HandlerIndex handler, const HandlerRow<H>& row) { rows_[gasmeter::index(handler)] = row; }
  void share(std::span<const HandlerRow<H>> rows) { std::copy(rows.begin(), rows.end(), rows_.begin()); }

 private:
  std::array<HandlerRow<H>, 256> rows_;
};

// Rows of modelled hosts, where a process may have thousands of endpoints: only as many rows as are used. The
// library's rows are shared until one is set. They grow from index 0 up, clients' rows from 255 down, so that both
// vectors stay short.
template <class H>
  requires H::kModelled
class HandlerRows<H> {
 public:
  explicit HandlerRows(const HandlerRow<H>& otherwise) : otherwise_(otherwise) {}
  [[nodiscard]] GASMETER_INLINE const HandlerRow<H>& operator[](HandlerIndex handler) const {
    const std::size_t i = gasmeter::index(handler);
    if (i < kFirstClientHandler) return i < library_.size() ? library_[i] : otherwise_;
    return 255 - i < clients_.size() ? clients_[255 - i] : otherwise_;
  }
  void set(HandlerIndex handler, const HandlerRow<H>& row) {
    const std::size_t i = gasmeter::index(handler);
    if (i >= kFirstClientHandler) {
      put(clients_, 255 - i, row);
      return;
    }
    if (changed_.empty()) changed_.assign(library_.begin(), library_.end());
    put(changed_, i, row);
    library_ = changed_;
  }
  // Use these rows for the library's indices. They must outlive this object.
  void share(std::span<const HandlerRow<H>> rows) { library_ = rows; }

 private:
  void put(std::vector<HandlerRow<H>>& rows, std::size_t at, const HandlerRow<H>& row) {
    if (at >= rows.size()) rows.resize(at + 1, otherwise_);
    rows[at] = row;
  }

  HandlerRow<H> otherwise_;
  std::span<const HandlerRow<H>> library_;
  std::vector<HandlerRow<H>> changed_;  // own copy of the library's rows once one differs
  std::vector<HandlerRow<H>> clients_;
};

template <class H>
class HandlerTable {
 public:
  using Row = HandlerRow<H>;

  // `unregistered` handles messages for unregistered indices.
  explicit HandlerTable(HandlerFunction<H> unregistered) : rows_({unregistered, nullptr}) {}
  // Begin with all handlers of `library`, which must outlive the table.
  HandlerTable(HandlerFunction<H> unregistered, const HandlerLibrary<H>& library)
      : rows_({unregistered, nullptr}), library_(library.entries()) {
    rows_.share(library.rows());
    for (const HandlerEntry<H>& entry : library_) taken_[gasmeter::index(entry.index)] = true;
  }
  HandlerTable(const HandlerTable&) = delete;
  HandlerTable& operator=(const HandlerTable&) = delete;

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
  // Replace the function of a registered handler.
  void replace(HandlerIndex handler, const Row& row) { rows_.set(handler, row); }
  // Return the entries in the order of registration.
  [[nodiscard]] std::vector<HandlerEntry<H>> entries() const {
    std::vector<HandlerEntry<H>> all(library_.begin(), library_.end());
    all.insert(all.end(), entries_.begin(), entries_.end());
    return all;
  }
  // Return the entry as registered; null for an unregistered index. It is valid until the next registration.
  [[nodiscard]] const HandlerEntry<H>* entry(HandlerIndex handler) const {
    const auto is_it = [handler](const HandlerEntry<H>& entry) { return entry.index == handler; };
    if (const auto registered = std::find_if(entries_.begin(), entries_.end(), is_it); registered != entries_.end())
      return &*registered;
    const auto shared = std::find_if(library_.begin(), library_.end(), is_it);
    return shared != library_.end() ? &*shared : nullptr;
  }
  // Return the restriction of its registration that a message breaks; null: none.
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
  std::span<const HandlerEntry<H>> library_;
  std::vector<HandlerEntry<H>> entries_;  // few entries, searched only where time does not matter
};

}  // namespace gasmeter::core
