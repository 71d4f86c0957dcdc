#include "gasmeter/bindings/operation.hpp"

#include <cctype>

namespace gasmeter::bindings {
namespace {

std::string replaced(std::string_view text, std::string_view old, std::string_view now) {
  std::string result(text);
  for (std::size_t at = result.find(old); at != std::string::npos; at = result.find(old, at + now.size())) {
    result.replace(at, old.size(), now);
  }
  return result;
}

// List the parameters behind `before`; with annotations for type checkers, which the overload may replace.
std::string parameter_list(const Operation& operation, std::string before, bool annotated,
                           const Overload& overload = {}) {
  bool by_name = false;
  for (const Parameter& each : operation.parameters) {
    if (!before.empty()) before += ", ";
    if (each.kind == Kind::keyword && !by_name) before += "*, ";
    if (each.kind == Kind::any_number) before += "*";
    by_name |= each.kind != Kind::positional;
    before += each.name;
    if (annotated) before.append(": ").append(each.name == overload.parameter ? overload.annotation : each.annotation);
    if (!each.value.empty()) before.append(annotated ? " = " : "=").append(each.value);
  }
  return before;
}

std::string section(std::string_view title) {
  return "\n" + std::string(title) + "\n" + std::string(title.size(), '-') + "\n";
}

// Format an entry of a section: its head, then the text, indented and wrapped.
std::string entry(std::string head, std::string_view text) {
  constexpr std::size_t kWidest = 120;
  std::size_t column = kWidest;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    const bool fits = column + 1 + word.size() <= kWidest;
    head.append(fits ? " " : "\n    ").append(word);
    column = (fits ? column + 1 : 4) + word.size();
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return head + "\n";
}

// Return a result's type. In programs the first word is replaced by the wrapper's name.
std::string result_type(std::string_view text, const Result& result, bool in_programs) {
  if (!in_programs || result.wrapped.empty()) return std::string(text);
  return std::string(result.wrapped).append(text.substr(std::min(text.find(' '), text.size())));
}

std::string documented(const Parameter& parameter) {
  std::string head = (parameter.kind == Kind::any_number ? "*" : "") + std::string(parameter.name) + " : ";
  head += parameter.type;
  if (!parameter.value.empty()) head.append(parameter.value == "None" ? ", optional" : ", default ");
  if (parameter.value != "None") head += parameter.value;
  return entry(std::move(head), parameter.about);
}

std::string documented(const Result& result, bool in_programs, bool yielded) {
  std::string about(result.about);
  const std::string type = result_type(result.type, result, in_programs);
  if (yielded) return entry("Operation", "Yields " + type + (about.empty() ? "." : ": " + about));
  if (!about.empty()) about[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(about[0])));
  return entry(type, about);
}

}  // namespace

std::string signature_of(const Operation& operation) {
  return operation.method + ("(" + parameter_list(operation, "", false) + ")");
}

std::string doc_of(const Operation& operation, bool in_programs) {
  std::string doc = operation.method + ("(" + parameter_list(operation, "$self", false) + ")\n--\n\n");
  doc.append(operation.summary).append("\n");
  if (!operation.parameters.empty()) doc += section("Parameters");
  for (const Parameter& each : operation.parameters) doc += documented(each);
  const bool yielded = in_programs && operation.object != Object::team;
  if (yielded || operation.result.type != "None") {
    doc += section("Returns") + documented(operation.result, in_programs, yielded);
  }
  if (!operation.raises.empty()) doc += section("Raises") + entry("gasmeter.UsageError", operation.raises);
  return doc;
}

std::vector<std::string> stubs_of(const Operation& operation, bool in_programs) {
  const auto stub = [&](const Overload& overload, std::string result) {
    if (in_programs) result = operation.object == Object::team ? "Any" : "Operation[" + result + "]";
    return "(" + parameter_list(operation, "self", true, overload) + ") -> " + result;
  };
  const Result& result = operation.result;
  const std::string usual = replaced(
      result_type(result.annotation.empty() ? result.type : result.annotation, result, in_programs), " or ", " | ");
  std::vector<std::string> stubs{stub({}, usual)};
  const Overload& overload = operation.overload;
  if (!overload.parameter.empty()) stubs.push_back(stub(overload, std::string(overload.result)));
  return stubs;
}

}  // namespace gasmeter::bindings
