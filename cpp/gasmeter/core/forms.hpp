// Which parts of an endpoint are specialised, and which are done as GASNet-EX does them on a network that has no code
// of its own for them.
#pragma once

#include <cstdint>

namespace gasmeter::core {

enum class Form : std::uint8_t { specialised, reference };

enum class AtomicForm : std::uint8_t {
  specialised,  // by the network where it does all of a domain's set, else as reference
  reference,    // neighbours directly, others by active messages
  messages,     // everybody by active messages: neighbours and this rank itself, too
};

// The reference forms:
//   np_am             prepare takes nothing but memory, commit is a call with fixed payload
//   immediate         Flags::immediate says nothing: whoever cannot go on waits, and polls
//   local_completion  a put whose source is not copied waits for its root, whatever local completion it asks for
struct Forms {
  Form np_am = Form::specialised;
  Form immediate = Form::specialised;
  Form local_completion = Form::specialised;
  AtomicForm atomics = AtomicForm::specialised;
};

}  // namespace gasmeter::core
