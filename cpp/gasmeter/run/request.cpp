#include "gasmeter/run/request.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

#include "gasmeter/base/error.hpp"

namespace gasmeter::run {
namespace {

using bench::OptionInfo;

template <class Range, class Name>
std::string join(const Range& range, Name name) {
  std::string text;
  for (const auto& item : range) text += (text.empty() ? "" : ", ") + name(item);
  return text.empty() ? "none" : text;
}

template <class T>
bool is_number(const std::string& value) {
  T parsed{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
  return error == std::errc{} && end == value.data() + value.size();
}

void check_value(const OptionInfo& option, const std::string& value) {
  const auto refuse = [&](const std::string& allowed) {
    throw UsageError("option '" + option.name + "=" + value + "': allowed are " + allowed);
  };
  if (option.type == "bool" && value != "true" && value != "false") refuse("true, false");
  if (option.type == "int" && !is_number<std::int64_t>(value)) refuse("whole numbers");
  if (option.type == "float" && !is_number<double>(value)) refuse("numbers");
  if (option.type == "choice" &&
      std::find(option.choices.begin(), option.choices.end(), value) == option.choices.end()) {
    refuse(join(option.choices, [](const std::string& choice) { return choice; }));
  }
}

void take_options(const std::vector<OptionInfo>& declared, const Measurement::Options& given,
                  bench::Settings& settings) {
  for (const OptionInfo& option : declared) {
    const auto match = given.find(option.name);
    const std::string& value = match == given.end() ? option.default_value : match->second;
    check_value(option, value);
    settings.options[option.name] = value;
    if (match != given.end()) settings.given.insert(option.name);
  }
}

void check_op(const bench::KernelInfo& info, const std::string& op) {
  const auto known_op = [&](const bench::OpInfo& candidate) { return candidate.name == op; };
  if (std::none_of(info.ops.begin(), info.ops.end(), known_op)) {
    throw UsageError("kernel " + info.name + " has no op '" + op + "'; it has " +
                     join(info.ops, [](const bench::OpInfo& o) { return o.name; }));
  }
}

// Refuse unknown options. `whose`: "kernel flood and conduit smp".
void refuse_others(const Measurement::Options& given, const bench::Settings& settings, const std::string& whose) {
  for (const auto& [name, value] : given) {
    if (!settings.options.contains(name)) {
      throw UsageError("option '" + name + "=" + value + "' is unknown to " + whose +
                       "; known: " + join(settings.options, [](const auto& entry) { return entry.first; }));
    }
  }
}

}  // namespace

Request Request::check(const kernels::Registry& registry, const Measurement& measurement) {
  const auto& [kernel, op, conduit, variant, size, seed, ranks, options, machine] = measurement;
  Request request;
  request.conduit = &find_conduit(conduit);
  request.kernel = registry.find(kernel);
  if (request.kernel == nullptr) {
    throw UsageError("kernel '" + kernel + "' is unknown; known: " +
                     join(registry.kernels(), [](const kernels::Kernel& k) { return k.info.name; }));
  }
  const bench::KernelInfo& info = request.kernel->info;
  check_op(info, op);
  const std::string chosen = variant.empty() && !info.variants.empty() ? info.variants.front() : variant;
  if (!chosen.empty() && std::find(info.variants.begin(), info.variants.end(), chosen) == info.variants.end() &&
      !request.is_raw()) {
    throw UsageError("kernel " + kernel + " has no variant '" + chosen + "'; it has " +
                     join(info.variants, [](const std::string& v) { return v; }));
  }
  if (!request.is_raw() && !request.conduit->modelled && request.kernel->make_real == nullptr) {
    throw UsageError("kernel " + kernel + " runs in virtual time; conduit " + conduit + " runs on rank processes");
  }
  if (ranks == 0) throw UsageError("ranks=0; at least 1");
  request.settings = {kernel, op, chosen, size, ranks, seed, {}};
  request.machine = machine;
  take_options(info.options, options, request.settings);
  take_options(request.conduit->options, options, request.settings);
  refuse_others(options, request.settings, "kernel " + kernel + " and conduit " + conduit);
  request.lower_defaults(std::numeric_limits<Bytes>::max());
  if (request.kernel->check != nullptr) request.kernel->check(request.settings);
  if (request.kernel->shares_nodes != nullptr && request.settings.options.contains("neighbourhood")) {
    const std::string shares = request.kernel->shares_nodes(request.settings) ? "true" : "false";
    if (options.contains("neighbourhood") && request.settings.text("neighbourhood") != shares) {
      throw UsageError("option 'neighbourhood=" + request.settings.text("neighbourhood") + "': an option of kernel " +
                       kernel + " says neighbourhood=" + shares);
    }
    request.settings.options["neighbourhood"] = shares;
  }
  return request;
}

bench::Settings Request::settings_of(const kernels::Kernel& kernel, const std::string& op, std::uint64_t seed,
                                     std::uint32_t ranks, const Measurement::Options& options) {
  check_op(kernel.info, op);
  bench::Settings settings{kernel.info.name, op, {}, 0, ranks, seed, {}};
  take_options(kernel.info.options, options, settings);
  refuse_others(options, settings, "kernel " + kernel.info.name);
  if (kernel.check != nullptr) kernel.check(settings);
  return settings;
}

Request Request::for_program(const std::string& conduit, std::uint64_t seed, std::uint32_t ranks,
                             const Measurement::Options& options) {
  Request request;
  request.conduit = &find_conduit(conduit);
  if (request.is_raw()) {
    throw UsageError("conduit " + conduit + " is a network's own interface and has no endpoint for programs");
  }
  if (ranks == 0) throw UsageError("ranks=0; at least 1");
  request.settings.ranks = ranks;
  request.settings.seed = seed;
  take_options(request.conduit->options, options, request.settings);
  refuse_others(options, request.settings, "conduit " + conduit);
  return request;
}

void Request::lower_defaults(Bytes largest_segment) {
  settings.largest_segment = largest_segment;
  if (kernel->lower_defaults != nullptr) kernel->lower_defaults(settings, largest_segment);
}

core::Forms Request::forms() const {
  const auto form = [this](const char* option) {
    return settings.text(option) == "reference" ? core::Form::reference : core::Form::specialised;
  };
  const std::string& atomics = settings.text("atomics");
  return {form("np_am"), form("immediate"), form("local_completion"),
          atomics == "messages"    ? core::AtomicForm::messages
          : atomics == "reference" ? core::AtomicForm::reference
                                   : core::AtomicForm::specialised};
}

void Request::require_virtual_time() const {
  if (conduit->modelled) return;
  throw UsageError("conduit " + conduit->name + " runs on rank processes, not in virtual time");
}

void Request::require_raw() const {
  if (conduit->has_raw(settings.kernel)) return;
  throw UsageError("kernel " + settings.kernel + " has no raw variant on " + conduit->network);
}

void Request::require_stamps() const {
  if (conduit->raw) {
    throw UsageError("conduit " + conduit->name +
                     ": real ranks take no time stamps in raw programs; allowed: a conduit of the library");
  }
  if (has_threads()) throw UsageError("option 'threads=true': time stamps are taken by one thread; allowed: false");
  if (kernel->make_stamped != nullptr) return;
  throw UsageError("kernel " + kernel->info.name +
                   " is traced in virtual time alone; allowed on real ranks: ping-pong, am, fetch-add, barrier");
}

}  // namespace gasmeter::run
