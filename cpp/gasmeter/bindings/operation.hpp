// The description of an operation for Python: how its arguments are taken. Its methods, their docs and the stub for
// type checkers follow from it.
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
  std::string_view value = {};  // default of an optional parameter, as Python writes it; empty: required
  Kind kind = Kind::positional;
};

// Parameters of one operation: positional ones, then any number of others, then flags.
template <const Parameter&... kEach>
inline constexpr Parameter kParameters[] = {kEach...};

struct Result {
  std::string_view type = "None";    // for readers
  std::string_view about = {};       // continues after the type
  std::string_view annotation = {};  // for type checkers, where it differs from the type
  std::string_view wrapped = {};     // wrapper that `_wrapped` of a program's object makes
};

// Another type of a parameter, with which the result has another type, too.
struct Overload {
  std::string_view parameter = {};
  std::string_view annotation = {};
  std::string_view result = {};
};

// Objects that have operations as methods. Each but the endpoint is the operation's first argument.
enum class Object : std::uint8_t { endpoint, prepared, token, team };

struct Operation {
  const char* name;
  const char* method = name + (std::string_view(name).rfind('.') + 1);  // the name behind its last dot
  Object object = Object::endpoint;
  bool in_programs = true;  // whether programs that yield have it as a method
  std::span<const Parameter> parameters = {};
  std::string_view summary;
  Result result = {};
  std::string_view raises = {};  // conditions of UsageError
  Overload overload = {};
  // Parse the arguments, with the GIL. Throws for arguments that are not allowed.
  std::unique_ptr<Call> (*parse)(const Arguments& arguments);
  KeywordFunction blocking = nullptr;  // a blocking method in place of the usual one

  // These members follow from the others.
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

// Return a signature such as "put(rank, offset, data, *, flags=0)".
[[nodiscard]] std::string signature_of(const Operation& operation);
// Return the method's docstring: of a blocking method, or of a program's method, which makes the yielded operation.
[[nodiscard]] std::string doc_of(const Operation& operation, bool in_programs);
// Return the method's stubs for type checkers, such as "(self, rank: SupportsIndex) -> int", one for each overload.
[[nodiscard]] std::vector<std::string> stubs_of(const Operation& operation, bool in_programs);

}  // namespace gasmeter::bindings
