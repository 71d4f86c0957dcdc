// Handlers of active messages: which function an index of 0..255 names [EX:AM handlers].
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "gasmeter/base/error.hpp"
#include "gasmeter/base/units.hpp"

namespace gasmeter::core {

template <class H>
class Token;

// Indices below are the library's own; clients use 128..255.
inline constexpr std::uint8_t kFirstClientHandler = 128;

template <class H>
using HandlerFunction = void (*)(Token<H>&);

// A row of the table that register_handlers() takes. Index 0 lets the library choose: the highest free index, rows in
// order, after all fixed ones; the choice is written back.
template <class H>
struct HandlerEntry {
  HandlerIndex index{};
  HandlerFunction<H> function = nullptr;
  void* context = nullptr;  // handed to the handler as Token::context()
  const char* name = "";    // for messages
};

template <class H>
class HandlerTable {
 public:
  // What a delivery needs, and nothing else.
  struct Row {
    HandlerFunction<H> function = nullptr;
    void* context = nullptr;
  };

  // `unregistered` answers for every index nobody registered.
  explicit HandlerTable(HandlerFunction<H> unregistered) { rows_.fill({unregistered, nullptr}); }

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
    rows_[gasmeter::index(entry.index)] = {entry.function, entry.context};
    taken_[gasmeter::index(entry.index)] = true;
  }

  [[nodiscard]] const Row& operator[](HandlerIndex handler) const { return rows_[gasmeter::index(handler)]; }
  [[nodiscard]] bool is_taken(HandlerIndex handler) const { return taken_[gasmeter::index(handler)]; }

 private:
  std::array<Row, 256> rows_;
  std::array<bool, 256> taken_{};
};

}  // namespace gasmeter::core
