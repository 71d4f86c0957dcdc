// Jobs in virtual time: validate, copy in, release the GIL, run, copy out.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "gasmeter/base/checked_arithmetic.hpp"
#include "gasmeter/base/error.hpp"
#include "gasmeter/bindings/interruptible.hpp"
#include "gasmeter/bindings/registration.hpp"
#include "gasmeter/conduit/counts.hpp"
#include "gasmeter/conduit/holdings.hpp"
#include "gasmeter/kernels/kernel.hpp"
#include "gasmeter/run/composed_network.hpp"
#include "gasmeter/run/model_job.hpp"
#include "gasmeter/run/request.hpp"

namespace gasmeter::bindings {
namespace {

class ModelJob {
 public:
  // `is_over`: asked while many ranks are made; True ends that.
  ModelJob(const run::Measurement& measurement, bool record, bool trace, const py::object& is_over)
      : ranks_(measurement.ranks), registry_(kernels::Registry::with_all_kernels()) {
    run::Request request = request_of(registry_, measurement);
    request.record = record;
    request.trace = trace;
    sim::StopToken stop;
    const auto make = [&] { job_ = std::make_shared<run::ModelJob>(request, &stop); };
    if (ranks_ < kManyRanks && measurement.size < kManyBytes / std::max(ranks_, 1U)) {
      const py::gil_scoped_release without_gil;
      make();
    } else {
      run_interruptibly(make, [&] { stop.request(); }, [&] { return !is_over.is_none() && is_over().cast<bool>(); });
    }
  }

  static void check(const run::Measurement& measurement) {
    const kernels::Registry registry = kernels::Registry::with_all_kernels();
    (void)run::machine_of(request_of(registry, measurement))->engine_options();
  }

  static Bytes largest_segment(const run::Measurement& measurement) {
    const kernels::Registry registry = kernels::Registry::with_all_kernels();
    const run::Request request = request_of(registry, measurement);
    return std::min(run::largest_segment(request, *run::machine_of(request)), kMostBytes);
  }

  std::vector<std::string> unused() {
    std::vector<std::string> keys;
    with_job([&](const run::ModelJob& job) { keys = job.unused_keys(); });
    return keys;
  }

  py::dict block(std::uint64_t iterations) {
    if (iterations == 0) throw UsageError("iterations=0; at least 1");
    bench::BlockResult result;
    use_job([&](run::ModelJob& job) { result = job.run(iterations); });
    py::dict reply;
    reply["elapsed_ns"] = result.elapsed.ns();
    reply["operations"] = static_cast<double>(result.operations);
    for (const auto& [name, value] : result.metrics) reply[py::str("metric." + name)] = value;
    return reply;
  }

  py::dict verify(bool blocks_follow) {
    bench::Verification verification;
    use_job([&](run::ModelJob& job) { verification = job.verify(blocks_follow); });
    py::dict reply;
    reply["verified"] = verification.errors <= verification.allowed;
    reply["errors"] = verification.errors;
    reply["checked"] = verification.checked;
    reply["silent"] = verification.silent;
    return reply;
  }

  // Return the use of links as columns for a table.
  py::dict links() {
    std::vector<sim::LinkUse> use;
    SimTime length;
    with_job([&](run::ModelJob& job) {
      use = job.link_use();
      length = job.block_length();
    });
    const auto share_of_time = [length](const sim::LinkUse& link) {
      return length.ps > 0 ? static_cast<double>(link.busy.ps) / static_cast<double>(length.ps) : 0;
    };
    py::dict table;
    table["vertex"] = column(use, &sim::LinkUse::vertex);
    table["port"] = column(use, &sim::LinkUse::port);
    table["to"] = column(use, &sim::LinkUse::to);
    table["packets"] = column(use, &sim::LinkUse::packets);
    table["bytes"] = column(use, &sim::LinkUse::bytes);
    table["busy"] = column(use, share_of_time);
    table["longest_wait_ns"] = column(use, [](const sim::LinkUse& link) { return link.longest_wait.ns(); });
    table["blocked"] = column(use, &sim::LinkUse::blocked);
    return table;
  }

  std::map<std::string, std::uint64_t> counters() {
    std::map<std::string, std::uint64_t> charged;
    with_job([&](const run::ModelJob& job) {
      const conduit::Counts counts = job.counts();
      for (std::size_t i = 0; i < static_cast<std::size_t>(conduit::Count::count_); ++i) {
        const auto which = static_cast<conduit::Count>(i);
        if (const auto times = counts.of(which)) charged[conduit::name_of(which)] = *times;
      }
    });
    return charged;
  }

  // Return a list of holdings: kind, name and text of each.
  py::list holdings(std::uint32_t rank, std::uint64_t iterations, double after_ns) {
    if (rank >= ranks_) {
      throw UsageError("rank=" + std::to_string(rank) + "; the job has " + std::to_string(ranks_) + " ranks");
    }
    if (!(after_ns >= 0 && after_ns < 1e15)) throw UsageError("after_ns: it is 0 or more, and less than 1e15");
    std::vector<conduit::Holding> held;
    use_job([&](run::ModelJob& job) {
      held = iterations == 0 ? job.holdings(Rank{rank})
                             : job.holdings_during(Rank{rank}, iterations, SimTime::from_ns(after_ns));
    });
    py::list objects;
    for (const conduit::Holding& each : held) {
      py::dict object;
      object["kind"] = each.kind;
      object["name"] = each.name;
      for (const auto& [name, value] : each.says) object[py::str(name)] = value;
      objects.append(object);
    }
    return objects;
  }

  bench::Resolved resolved() {
    bench::Resolved resolved;
    with_job([&](const run::ModelJob& job) { resolved = job.resolved(); });
    return resolved;
  }

  // Return the record as columns, rank by rank.
  py::dict record() {
    struct Row : conduit::Recorded {
      std::uint32_t rank;
      SimTime begun;  // the rank's block
    };
    std::vector<Row> rows;
    std::vector<std::uint32_t> node;
    std::vector<SimTime> rank_end;
    use_job([&](run::ModelJob& job) {
      for (const conduit::RankRecord& each : job.record()) {
        node.push_back(index(job.node_of(each.rank())));
        rank_end.push_back(each.ended() - each.begun());
        for (const conduit::Recorded& operation : each.operations()) {
          rows.push_back({operation, index(each.rank()), each.begun()});
        }
      }
    });
    py::dict table;
    table["rank"] = column(rows, &Row::rank);
    table["kind"] = column(rows, [](const Row& row) { return static_cast<std::uint8_t>(row.kind); });
    table["peer"] = column(rows, [](const Row& row) { return index(row.peer); });
    table["bytes"] = column(rows, &Row::bytes);
    table["begin_ps"] = column(rows, [](const Row& row) { return (row.begin - row.begun).ps; });
    table["end_ps"] = column(rows, [](const Row& row) { return (row.end - row.begun).ps; });
    table["idle_ps"] = column(rows, [](const Row& row) { return row.idle.ps; });
    table["sequence"] = column(rows, &Row::sequence);
    table["node"] = column(node, std::identity());
    table["rank_end_ps"] = column(rank_end, &SimTime::ps);
    return table;
  }

  // Return the trace as columns, operation by operation.
  py::dict trace() {
    struct Row : sim::Stretch {
      std::uint32_t operation;
    };
    std::vector<Row> rows;
    std::vector<run::ModelJob::TracedOperation> operations;
    std::vector<std::uint32_t> node;
    use_job([&](run::ModelJob& job) {
      for (std::uint32_t rank = 0; rank < ranks_; ++rank) node.push_back(index(job.node_of(Rank{rank})));
      operations = job.trace();
      for (std::uint32_t operation = 0; operation < operations.size(); ++operation) {
        for (const sim::Stretch& stretch : operations[operation].way) rows.push_back({stretch, operation});
      }
    });
    std::vector<std::string> names;
    for (unsigned i = 0; i < static_cast<unsigned>(sim::Step::count_); ++i) {
      names.emplace_back(sim::name_of(static_cast<sim::Step>(i)));
    }
    using Operation = run::ModelJob::TracedOperation;
    const auto flag = [](bool sim::Stretch::* field) {
      return [field](const Row& row) { return static_cast<std::uint8_t>(row.*field ? 1 : 0); };
    };
    py::dict table;
    table["operation"] = column(rows, &Row::operation);
    table["begin_ps"] = column(rows, [](const Row& row) { return row.begin.ps; });
    table["end_ps"] = column(rows, [](const Row& row) { return row.end.ps; });
    table["step"] = column(rows, [](const Row& row) { return static_cast<std::uint8_t>(row.step); });
    table["in_handler"] = column(rows, flag(&sim::Stretch::in_handler));
    table["on_rank"] = column(rows, flag(&sim::Stretch::on_rank));
    table["from"] = column(rows, &Row::from);
    table["to"] = column(rows, &Row::to);
    table["operation_begin_ps"] = column(operations, [](const Operation& each) { return each.begin.ps; });
    table["operation_end_ps"] = column(operations, [](const Operation& each) { return each.end.ps; });
    table["node"] = column(node, std::identity());
    table["names"] = py::cast(names);
    return table;
  }

  void stop() {
    if (const auto job = job_) job->stop();
  }

  void close() {
    if (busy_) throw UsageError("modelled job: it runs in another thread; stop() it before");
    const py::gil_scoped_release without_gil;  // giving back much memory takes time
    std::exchange(job_, nullptr).reset();
  }

 private:
  static run::Request request_of(const kernels::Registry& registry, const run::Measurement& measurement) {
    run::Request request = run::Request::check(registry, measurement);
    request.require_virtual_time();
    return request;
  }

  // Return a value of each row. `value`: a member of a row, or a function.
  template <class Row, class Value>
  static py::object column(const std::vector<Row>& rows, Value value) {
    using T = std::remove_cvref_t<std::invoke_result_t<Value, const Row&>>;
    py::array_t<T> values(static_cast<py::ssize_t>(rows.size()));
    std::ranges::transform(rows, values.mutable_data(), value);
    return values;
  }

  // Let Ctrl-C end the work and other Python threads run meanwhile. Where no signal arrives, no further thread is used,
  // which would cost as much as a short block.
  template <class Work>
  void use_job(Work work) {
    with_job([&](run::ModelJob& job) {
      if (hears_signals()) {
        run_interruptibly([&] { work(job); }, [&] { job.stop(); });
        return;
      }
      const py::gil_scoped_release without_gil;
      work(job);
    });
  }
  // Use the job with the GIL, for short queries: a thread and waiting for the GIL would cost more.
  template <class Work>
  void with_job(Work work) {
    const auto job = job_;
    if (job == nullptr) throw UsageError("modelled job: it is closed");
    if (busy_.exchange(true)) throw UsageError("modelled job: it runs in another thread already");
    struct Free {
      std::atomic<bool>& busy;
      ~Free() { busy = false; }
    } free{busy_};
    work(*job);
  }

  // Many ranks and large buffers take a moment to be made. A second thread makes them, so that Ctrl-C and `is_over` are
  // heard meanwhile. Starting that thread costs more than making a few small ranks.
  static constexpr std::uint32_t kManyRanks = 64;
  static constexpr Bytes kManyBytes = Bytes{64} << 20U;

  std::uint32_t ranks_;
  kernels::Registry registry_;          // the request points into it
  std::shared_ptr<run::ModelJob> job_;  // shared by the threads that run and stop it
  std::atomic<bool> busy_{false};
};

// Turn a function of a measurement into one of the measurement's fields, in their order.
template <class Result, class... More>
auto of_fields(Result (*function)(const run::Measurement&, More...)) {
  return [function](std::string kernel, std::string op, std::string conduit, std::string variant, Bytes size,
                    std::uint64_t seed, std::uint32_t ranks, run::Measurement::Options options,
                    run::Measurement::Machine machine, More... more) {
    return function({std::move(kernel), std::move(op), std::move(conduit), std::move(variant), size, seed, ranks,
                     std::move(options), std::move(machine)},
                    more...);
  };
}

std::unique_ptr<ModelJob> make_job(const run::Measurement& measurement, bool record, bool trace,
                                   const py::object& is_over) {
  return std::make_unique<ModelJob>(measurement, record, trace, is_over);
}

}  // namespace

void register_model_job(py::module_& module) {
  using namespace py::literals;
  py::class_<ModelJob> job(module, "ModelJob", R"(A measurement in virtual time, inside this process.

Parameters
----------
kernel, op, conduit, variant : str
    Names of the catalogue; the conduit must be a modelled one, an empty variant is the kernel's first.
size_bytes : int
    Bytes of one transfer, or of the whole table.
seed : int
    The same seed gives the same picoseconds.
ranks : int
    Virtual ranks, 1 or more.
options : dict of str to str
    Options of kernel and conduit that differ from their defaults.
machine : dict of str to float or str
    Every number of the network's machine by key, in SI base units (s, B/s, B, counts), and for networks of links
    ``topology`` and ``placement`` as text. Empty: the toy network's own numbers; other networks need them.
record : bool
    Keep what each rank did in the last block, for `record`.
trace : bool
    Keep what each operation's time was spent on, for `trace`. The times stay the same; the engine runs on one thread.
is_over : callable, optional
    Is asked every 50 ms while many ranks are made, from the calling thread. True ends that with `gasmeter.GasmeterError`.

Raises
------
gasmeter.UsageError
    For what this build cannot run.

Notes
-----
Runs without the GIL. Ctrl-C in the main thread ends a run with `KeyboardInterrupt`; the job is then of no further use.
)");
  const auto fields =
      std::tuple(py::kw_only(), "kernel"_a, "op"_a, "conduit"_a, "variant"_a = "", "size_bytes"_a = 0, "seed"_a = 0,
                 "ranks"_a = 2, "options"_a = run::Measurement::Options(), "machine"_a = run::Measurement::Machine());
  std::apply(
      [&](const auto&... field) {
        job.def(py::init(of_fields(&make_job)), field..., "record"_a = false, "trace"_a = false,
                "is_over"_a = py::none());
        job.def_static("check", of_fields(&ModelJob::check), field...,
                       R"(Refuse what a machine cannot be, without making a job.

Parameters
----------
kernel, op, conduit, variant, size_bytes, seed, ranks, options, machine
    As of the job.

Raises
------
gasmeter.UsageError
    As the job, apart from what only its ranks and devices find out.
)");
        job.def_static("largest_segment", of_fields(&ModelJob::largest_segment), field...,
                       R"(Return how many bytes the segment of a rank may have on a machine, without making a job.

Parameters
----------
kernel, op, conduit, variant, size_bytes, seed, ranks, options, machine
    As of the job.

Returns
-------
int
    Bytes.

Raises
------
gasmeter.UsageError
    As `check`.
)");
      },
      fields);
  job.def("block", &ModelJob::block, "iterations"_a, R"(Run one timed block on every rank.

Parameters
----------
iterations : int
    Operations, 1 or more.

Returns
-------
dict of str to float
    ``elapsed_ns`` (virtual time), ``operations`` and ``metric.<name>`` in the catalogue's unit, as rank 0 saw them.

Raises
------
gasmeter.Deadlock
    If every rank waits and nothing is under way; one line per rank.
KeyboardInterrupt
    On Ctrl-C.
)")
      .def("verify", &ModelJob::verify, py::kw_only(), "blocks_follow"_a = false, R"(Check the data of every rank.

Parameters
----------
blocks_follow : bool
    Whether blocks are timed later, which the check must not change: its operations then have no slots of their own.

Returns
-------
dict
    ``verified`` (bool), ``errors`` and ``checked`` (int), summed over the ranks.
)")
      .def("links", &ModelJob::links, R"(What every link has carried during the last block.

Returns
-------
dict of str to numpy.ndarray
    One element per direction of a link: ``vertex``, ``port`` and ``to`` (uint32), ``packets``, ``bytes`` and
    ``blocked`` (uint64; packets that found no free buffer), ``busy`` (float64, share of the time from the block's
    begin to its end, 0..1), ``longest_wait_ns`` (float64, of a packet for the link). Empty for networks without links.
)")
      .def("counters", &ModelJob::counters, R"(What conduits and devices have counted since the job was made.

Returns
-------
dict of str to int
    By the names of ``gasmeter.rows.counters.COUNTERS``, summed over the ranks. What nothing counts on this network is
    absent.
)")
      .def("holdings", &ModelJob::holdings, "rank"_a = 0, "iterations"_a = 0, "after_ns"_a = 0.0,
           R"(The objects that a rank's conduit holds of its network, at one instant.

Parameters
----------
rank : int
    Whose.
iterations : int
    0: as they are between blocks. Else a block of so many operations is run, in whose midst they are looked at.
after_ns : float
    So long after that block's begin.

Returns
-------
list of dict of str to str
    Of each object its ``kind`` (of Portals: ``MD``, ``EQ``), its ``name`` and what else it says, in the network's words.

Raises
------
gasmeter.UsageError
    If the conduit does not tell, or the block does not last so long.
)")
      .def("resolved", &ModelJob::resolved, R"(What options that leave a choice became in the blocks so far.

Returns
-------
dict of str to str
    By option, for instance ``algorithm``: ``bruck``; without those that leave no choice.
)")
      .def("record", &ModelJob::record, R"(What each rank did in the last block, in program order.

Returns
-------
dict of str to numpy.ndarray
    One element per operation, rank by rank: ``rank``, ``peer`` (uint32), ``kind`` (uint8: 0 send, 1 put, 2 get,
    3 exchange, 4 receive, 5 arrive, 6 complete), ``bytes`` (uint64, without headers), ``begin_ps`` and ``end_ps``
    (int64, on the rank's clock since the block began; a send is with the network at its end, what came could be seen
    from its begin on), ``idle_ps`` (of the time between the operation before and ``begin_ps``, what the rank slept),
    ``sequence`` (uint64: the number its sender gave it; 2^64 - 1 where the sender did so in another block). One element
    per rank: ``node`` (uint32) and ``rank_end_ps`` (int64, the end of its block).

Raises
------
gasmeter.UsageError
    If the job was not asked to record, or no block has run.
)")
      .def("trace", &ModelJob::trace, R"(What the time of each operation of the last block was spent on.

Only operations that rank 0 does one by one: the round trips and blocking transfers of a kernel.

Returns
-------
dict of str to numpy.ndarray or list of str
    One element per step, operation by operation and in order of time, without gaps: ``operation`` (uint32, counted from
    0), ``begin_ps`` and ``end_ps`` (int64, since the block began), ``step`` (uint8, an index of ``names``), ``on_rank``
    and ``in_handler`` (uint8, 0 or 1), ``from`` and ``to`` (uint32: the rank, twice, or the nodes that an event of the
    network leads from and to). One element per operation: ``operation_begin_ps``, ``operation_end_ps`` (int64). One per
    rank: ``node`` (uint32). ``names``: the words of the steps.

Raises
------
gasmeter.UsageError
    If the job was not asked to trace, or no block has run.
)")
      .def("unused", &ModelJob::unused, R"(Which numbers of the machine nothing has depended on since the job was made.

Returns
-------
list of str
    Keys of `machine`. With other values for these alone the job would have come to the same picoseconds: prices that
    nobody was charged, parameters of units that nobody gave a command. Networks that cannot tell name none.
)")
      .def("stop", &ModelJob::stop,
           "End the call that another thread has under way: it raises `gasmeter.GasmeterError`.")
      .def("close", &ModelJob::close, "Free the memory of the job; closing twice does nothing.");
}

}  // namespace gasmeter::bindings
