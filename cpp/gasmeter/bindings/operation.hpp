// What an operation is for Python, said once: how its arguments are taken, its methods, their docs and what type
// checkers read follow from it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gasmeter/bindings/fast_method.hpp"

namespace gasmeter::bindings {

class Call;
struct Arguments;

enum class Kind : std::uint8_t { positional, any_number, keyword };

struct Parameter {
  std::string_view name;
  std::string_view type;        // for readers
  std::string_view annotation;  // for type checkers
  std::string_view about;
  std::string_view value = {};  // of one that is left out, as Python writes it; empty: it must be given
  Kind kind = Kind::positional;
};

// Those of one operation: positional ones, then any number of others, then flags.
template <const Parameter&... kEach>
inline constexpr Parameter kParameters[] = {kEach...};

struct Result {
  std::string_view type = "None";    // for readers
  std::string_view about = {};       // goes on after the type
  std::string_view annotation = {};  // for type checkers, where it is not the type
  std::string_view wrapped = {};     // what `_wrapped` of a program's object makes of it
};

// Another type of a parameter, with which the result has another one, too.
struct Overload {
  std::string_view parameter = {};
  std::string_view annotation = {};
  std::string_view result = {};
};

// Whose methods operations are. Any but the endpoint is the first of their arguments.
enum class Object : std::uint8_t { endpoint, prepared, token, team };

struct Operation {
  const char* name;
  const char* method = name + (std::string_view(name).rfind('.') + 1);  // what is behind a dot
  Object object = Object::endpoint;
  bool in_programs = true;  // whether programs that yield have it as a method
  std::span<const Parameter> parameters = {};
  std::string_view summary;
  Result result = {};
  std::string_view raises = {};  // what is a UsageError
  Overload overload = {};
  // With the GIL. Throws for what is not allowed.
  std::unique_ptr<Call> (*parse)(const Arguments& arguments);
  KeywordFunction blocking = nullptr;  // the method that blocks, where the usual one is too slow or does not do

  // These follow.
  std::size_t objects = object == Object::endpoint ? 0 : 1;
  std::size_t positional = static_cast<std::size_t>(std::ranges::count(parameters, Kind::positional, &Parameter::kind));
  std::size_t least = objects + static_cast<std::size_t>(std::ranges::count_if(parameters, [](const Parameter& each) {
                        return each.kind == Kind::positional && each.value.empty();
                      }));
  std::size_t most = has(Kind::any_number) ? std::numeric_limits<std::size_t>::max() : objects + positional;
  bool takes_flags = has(Kind::keyword);

  [[nodiscard]] constexpr bool has(Kind kind) const {
    return std::ranges::find(parameters, kind, &Parameter::kind) != parameters.end();
  }
};

// "put(rank, offset, data, *, flags=0)"
[[nodiscard]] std::string signature_of(const Operation& operation);
// What Python shows for its method: one that blocks, or one of programs, which makes what is yielded.
[[nodiscard]] std::string doc_of(const Operation& operation, bool in_programs);
// "(self, rank: SupportsIndex) -> int": what type checkers read of its method, one for each overload.
[[nodiscard]] std::vector<std::string> stubs_of(const Operation& operation, bool in_programs);

}  // namespace gasmeter::bindings
