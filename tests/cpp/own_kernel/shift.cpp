// Kernel `shift`: every rank puts to its right neighbour, then all meet.
#include <gasmeter/kernels/kernel.hpp>
#include <gasmeter/run/worker.hpp>

using namespace gasmeter;

template <class H>  // the host: real, real with threads, modelled
struct Shift final : kernels::Program {
  Shift(core::Endpoint<H>& endpoint, const kernels::Settings& settings) : ep(endpoint), data(settings.size) {}
  kernels::BlockResult run(std::uint64_t iterations) override {
    const Rank right{(index(ep.rank()) + 1) % ep.ranks()};
    ep.barrier();
    const SimTime start = ep.host().now();
    for (std::uint64_t i = 0; i < iterations; ++i, ep.barrier())
      ep.put(right, ep.segment(right).address, data.data(), data.size());
    kernels::BlockResult result{ep.host().now() - start, iterations, {}};
    result.add_time_per_operation("latency");
    return result;
  }
  kernels::Verification verify() override {
    kernels::fill_pattern(data, index(ep.rank()));
    (void)run(1);
    const auto left = (index(ep.rank()) + ep.ranks() - 1) % ep.ranks();
    return {data.size(), kernels::count_differences(ep.segment().address, data.size(), left), 0};
  }
  core::Endpoint<H>& ep;
  std::vector<std::byte> data;
};

int main(int argc, char** argv) {
  auto registry = kernels::Registry::with_all_kernels();
  registry.add(kernels::kernel_of<Shift>(
      {"shift", "puts to the right", {{"put", "blocking put", {{"latency", "the put and the barrier"}}}}, {}, {}},
      [](const kernels::Settings& settings) { return settings.size; }));  // bytes of each segment
  return run::worker_main(argc, argv, registry);
}
