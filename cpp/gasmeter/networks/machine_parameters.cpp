#include "gasmeter/networks/machine_parameters.hpp"

namespace gasmeter::networks {

ParameterInfo software_time(const char* key, const char* summary) {
  return {.key = key, .kind = "time", .summary = summary, .software = true};
}

ParameterInfo optional(ParameterInfo parameter) {
  parameter.optional = true;
  return parameter;
}

const std::vector<ParameterInfo>& optional_parameters() {
  const auto time = [](const char* key, const char* summary) { return optional(software_time(key, summary)); };
  static const std::vector<ParameterInfo> all = {
      time("host.piece_copy", "a piece of up to 64 B of a transfer of many, in place of host.copy_start"),
      time("host.loop_turn", "a turn of a loop over pieces: counter, bounds, addresses"),
      time("host.loop_level", "beginning a loop over pieces, and leaving it"),
      time("host.translation", "looking up where a neighbour's address lies"),
      optional({"host.generate_bandwidth", "bandwidth", "storing what a program makes itself, in place of a copy"}),
      time("host.shared_access", "what a compiler's run time adds to each access to shared data"),
      time("host.handle_translation", "finding what a shared object's handle means, at the target"),
      time("host.address_look_up", "a look-up in a cache of remote addresses, or a change of it"),
  };
  return all;
}

const std::vector<ParameterInfo>& instruction_parameters() {
  const auto time = [](const char* key, const char* summary) { return optional(software_time(key, summary)); };
  static const std::vector<ParameterInfo> all = {
      software_time("host.instruction", "an instruction of protocol code, on average"),
      time("host.call", "entering one operation of the library, in place of its counted instructions"),
      time("host.header_build", "sending a message, from the call to the device, in place of its counted instructions"),
      time("host.dispatch", "a message that is found, up to its handler, in place of its counted instructions"),
  };
  return all;
}

const std::vector<ParameterInfo>& core_parameters() {
  static const std::vector<ParameterInfo> all = {
      {"topology", "topology", "how nodes are connected"},
      {"ranks_per_node", "count", "cores of a node, one rank each"},
      software_time("host.poll_miss", "a poll that finds nothing"),
      software_time("host.update", "one read-modify-write of a kernel on a random word of a table in memory"),
      software_time("host.update_in_cache", "likewise, of a table of at most host.cache"),
      {"host.cache", "size", "of the caches that one core has for itself"},
      software_time("host.copy_start", "a copy from memory to memory, whatever its length"),
      {"host.copy_bandwidth", "bandwidth", "a copy from memory to memory by one core"},
      {"host.memory_bandwidth", "bandwidth", "memory of a whole node, shared by its cores"},
      software_time("host.line_store", "storing a cache line that another rank reads"),
      software_time("host.line_transfer", "loading a cache line that another rank or a device wrote"),
  };
  return all;
}

const std::vector<ParameterInfo>& kernel_parameters() {
  static const std::vector<ParameterInfo> all = {
      software_time("host.lock", "taking and releasing a lock that is free"),
      software_time("host.system_call", "an empty system call"),
  };
  return all;
}

const std::vector<ParameterInfo>& card_parameters() {
  static const std::vector<ParameterInfo> stores = {
      software_time("host.pio_start", "a burst of write-combined stores to the card, whatever its length"),
      {"host.pio_bandwidth", "bandwidth", "write-combined stores to the card"},
      software_time("host.uncached_read", "an uncached read of a register of the card"),
  };
  static const std::vector<ParameterInfo> registration = {
      software_time("host.registration", "registering memory with the card, whatever its length"),
      software_time("host.registration_per_page", "registering memory with the card, for each page"),
  };
  static const std::vector<ParameterInfo> links = {
      {"link.bandwidth", "bandwidth", "one link, in one direction"},
      {"link.latency", "time", "one hop: router and wire"},
      {"link.buffer", "count", "packets held by one input and virtual channel"},
      {"link.header", "bytes", "added to each packet on the wire: framing, header, checksum"},
  };
  static const std::vector<ParameterInfo> all = joined({core_parameters(), stores, kernel_parameters(), registration,
                                                        instruction_parameters(), optional_parameters(), links});
  return all;
}

const std::vector<ParameterInfo>& matching_parameters() {
  static const std::vector<ParameterInfo> all = {
      {"mpi.eager", "size", "two-sided messages of more bytes wait for their receive"},
      software_time("mpi.software", "a two-sided message at one side: request object, envelope, matching, progress"),
      software_time("mpi.match_element", "each element of a list that matching looks at"),
  };
  return all;
}

std::vector<ParameterInfo> joined(std::initializer_list<std::vector<ParameterInfo>> lists) {
  std::vector<ParameterInfo> all;
  for (const std::vector<ParameterInfo>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace gasmeter::networks
