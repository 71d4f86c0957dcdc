// Choice between specialised parts of an endpoint and reference forms. Reference forms work as GASNet-EX does on a
// network without code of its own for them.
#pragma once

#include <cstdint>

namespace gasmeter::core {

enum class Form : std::uint8_t { specialised, reference };

enum class AtomicForm : std::uint8_t {
  specialised,  // the network does a domain's operations if it can do all of them, else as reference
  reference,    // neighbours directly, other ranks by active messages
  messages,     // all ranks by active messages, neighbours and this rank included
};

// The reference forms:
//   np_am             prepare takes only memory, commit is a call with fixed payload
//   immediate         Flags::immediate has no effect: the call waits and polls
//   local_completion  a put whose source is not copied waits for its root, for every choice of local completion
struct Forms {
  Form np_am = Form::specialised;
  Form immediate = Form::specialised;
  Form local_completion = Form::specialised;
  AtomicForm atomics = AtomicForm::specialised;
};

}  // namespace gasmeter::core
