#include "gasmeter/run/worker.hpp"

int main(int argc, char** argv) {
  return gasmeter::run::worker_main(argc, argv, gasmeter::kernels::Registry::with_all_kernels());
}
