// A job that fails in the way its argument says; the tests look at what it prints. Started by
// mpirun with 3 ranks.
#include <cstring>
#include <stdexcept>

#include "distributed/comm/world.h"
#include "phi/common/errors.h"

int main(int argc, char** argv) {
  using namespace phi;
  distributed::World& world = distributed::init_world(&argc, &argv);
  world.set_deadline(std::chrono::milliseconds(500));
  try {
    const OpScope scope("matmul");
    world.everyone().barrier();
    if (std::strcmp(argv[1], "throws") == 0 && world.rank() == 1) {
      throw errors::InvalidArgument("x is wrong here.");
    }
    if (std::strcmp(argv[1], "stays_away") == 0 && world.rank() == 1) {
      world.set_deadline(std::chrono::seconds(60));
      const int64_t pair[] = {1, 2};
      world.group(pair).barrier();
    }
    float x = 1;
    world.everyone().all_reduce(&x, 1, DataType::FLOAT32, distributed::ReduceKind::kSum);
  } catch (const std::exception& error) {
    distributed::abort_job(error.what());
  }
  distributed::finalize_world();
}
