// A job that fails in the way its argument says; the tests look at what it prints. Started by
// mpirun with 3 ranks.
#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "distributed/comm/world.h"
#include "phi/common/errors.h"

namespace {

using namespace phi::distributed;  // NOLINT: a short program

bool is(const char* argument, const char* name) { return std::strcmp(argument, name) == 0; }

// From rank 0 to rank 1, large enough to be stored nowhere on the way.
Transfer start_transfer(World& world, size_t sent, size_t expected) {
  auto bytes = std::make_shared<std::vector<std::byte>>(std::max(sent, expected));
  const Send send{1, bytes->data(), sent};
  const Recv recv{0, bytes->data(), expected};
  if (world.rank() == 0) return world.everyone().start_exchange({&send, 1}, {}, bytes);
  if (world.rank() == 1) return world.everyone().start_exchange({}, {&recv, 1}, bytes);
  return world.everyone().start_exchange({}, {}, nullptr);
}

void run(World& world, const char* argument) {
  const phi::OpScope scope("matmul");
  world.everyone().barrier();
  if (is(argument, "throws") && world.rank() == 1) {
    throw phi::errors::InvalidArgument("x is wrong here.");
  }
  if (is(argument, "stays_away") && world.rank() == 1) {
    world.set_deadline(std::chrono::seconds(60));
    const int64_t pair[] = {1, 2};
    world.group(pair).barrier();
  }
  constexpr size_t kLarge = size_t{1} << 20;
  if (is(argument, "sends_less")) start_transfer(world, kLarge, kLarge + 4).wait();
  if (is(argument, "sends_more")) start_transfer(world, kLarge + 4, kLarge).wait();
  if (is(argument, "never_posts")) {
    if (world.rank() != 0) start_transfer(world, kLarge, kLarge).wait();
    return;
  }
  if (is(argument, "never_receives")) {
    if (world.rank() == 0) start_transfer(world, kLarge, kLarge);
    return;
  }
  float x = 1;
  world.everyone().all_reduce(&x, 1, phi::DataType::FLOAT32, ReduceKind::kSum);
}

}  // namespace

int main(int argc, char** argv) {
  World& world = init_world(&argc, &argv);
  world.set_deadline(std::chrono::milliseconds(500));
  try {
    run(world, argv[1]);
  } catch (const std::exception& error) {
    abort_job(error.what());
  }
  finalize_world();
}
