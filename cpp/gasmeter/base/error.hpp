// Misuse and failure are exceptions of one hierarchy; Python raises the same names (gasmeter.errors).
// Expected outcomes (queue full, not ready) are Status values (base/status.hpp), never exceptions.
#pragma once

#include <stdexcept>
#include <string>

namespace gasmeter {

// Base of every exception of gasmeter. The message is one line: the object, the value given, the values allowed.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A value outside what is allowed: unknown names, sizes that do not fit (ValueError in Python, exit status 2).
class UsageError : public Error {
 public:
  using Error::Error;
};

// The host lacks something: memory, a library, a permission (exit status 3).
class ResourceError : public Error {
 public:
  using Error::Error;
};

// A rank died or the launcher went away (exit status 4).
class BrokenJob : public Error {
 public:
  using Error::Error;
};

// Every rank waits and no message is in flight: the message holds one line per waiting rank.
class Deadlock : public Error {
 public:
  using Error::Error;
};

// Throw ResourceError "call: text of errno" after a foreign call failed.
[[noreturn]] void throw_errno(const std::string& call);

}  // namespace gasmeter
