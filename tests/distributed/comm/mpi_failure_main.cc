// A job that fails in the way its argument says; the tests look at what it prints. Started by
// mpirun with 3 ranks.
#include <fmt/core.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "distributed/comm/comm_annotation.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"

namespace {

using namespace phi::distributed;  // NOLINT: a short program

const char* argument = "";

bool is(const char* name) { return std::strcmp(argument, name) == 0; }

int launched_rank() { return std::atoi(std::getenv("OMPI_COMM_WORLD_RANK")); }

// From rank 0 to rank 1, large enough to be stored nowhere on the way.
Transfer start_transfer(World& world, size_t sent, size_t expected) {
  auto bytes = std::make_shared<std::vector<std::byte>>(std::max(sent, expected));
  const Send send{1, bytes->data(), sent};
  const Recv recv{0, bytes->data(), expected};
  if (world.rank() == 0) return world.everyone().start_exchange({&send, 1}, {}, bytes);
  if (world.rank() == 1) return world.everyone().start_exchange({}, {&recv, 1}, bytes);
  return world.everyone().start_exchange({}, {}, nullptr);
}

void disagree(World& world);

void run(World& world) {
  const phi::OpScope scope("matmul");
  world.everyone().barrier();
  if ((is("throws") || is("stuck_in_abort")) && world.rank() == 1) {
    throw phi::errors::InvalidArgument("x is wrong here.");
  }
  if (is("stays_away") && world.rank() == 1) {
    world.set_deadline(std::chrono::seconds(60));
    const int64_t pair[] = {1, 2};
    world.group(pair).barrier();
  }
  constexpr size_t kLarge = size_t{1} << 20;
  if (is("sends_less")) start_transfer(world, kLarge, kLarge + 4).wait();
  if (is("sends_more")) start_transfer(world, kLarge + 4, kLarge).wait();
  if (is("never_posts")) {
    if (world.rank() != 0) start_transfer(world, kLarge, kLarge).wait();
    return;
  }
  if (is("never_receives")) {
    if (world.rank() == 0) start_transfer(world, kLarge, kLarge);
    return;
  }
  if (is("stops") && world.rank() == 1) std::raise(SIGSTOP);
  if (is("dies") && world.rank() == 1) std::raise(SIGKILL);
  if (is("stops_at_the_end")) return;
  if (is("exits")) {
    if (world.rank() == 1) std::exit(3);
    world.set_deadline(std::chrono::seconds(30));
  }
  disagree(world);
}

// All ranks reduce one number, and rank 1 perhaps something else.
void disagree(World& world) {
  using phi::DataType;
  const bool other = world.rank() == 1;
  const phi::Dims shape = is("other_shape") && other ? phi::Dims{2, 3} : phi::Dims{3, 2};
  const CommAnnotation about(shape, DataType::FLOAT32);
  const phi::OpScope scope(is("other_source") && other ? "add" : "matmul");
  world.set_strict_collectives(is("other_source"));
  float x[6] = {};
  if (is("skips_a_call") && other) return world.everyone().barrier();
  if (is("other_op") && other) return world.everyone().broadcast(x, 6, DataType::FLOAT32, 0);
  world.everyone().all_reduce(x, is("other_count") && other ? 5 : 6,
                              is("other_dtype") && other ? DataType::INT32 : DataType::FLOAT32,
                              is("other_kind") && other ? ReduceKind::kMax : ReduceKind::kSum);
  world.everyone().barrier();
}

[[noreturn]] void wait_for_ever() {
  while (true) pause();
}

}  // namespace

// In the place of MPI's own, as tools that watch a program do.
extern "C" int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  if (is("stops_in_the_start") && launched_rank() == 1) std::raise(SIGSTOP);
  return PMPI_Comm_dup(comm, made);
}
extern "C" int MPI_Testsome(int count, MPI_Request* requests, int* finished, int* which,
                            MPI_Status* statuses) {
  if (is("stuck_in_a_call")) wait_for_ever();
  return PMPI_Testsome(count, requests, finished, which, statuses);
}
extern "C" int MPI_Abort(MPI_Comm comm, int status) {
  if (is("stuck_in_abort")) wait_for_ever();
  return PMPI_Abort(comm, status);
}
extern "C" int MPI_Finalize() {
  if (is("stops_at_the_end") && launched_rank() == 1) std::raise(SIGSTOP);
  return PMPI_Finalize();
}

int main(int argc, char** argv) {
  argument = argv[1];
  if (is("stops_before_the_start") && launched_rank() == 1) std::raise(SIGSTOP);
  // As on another machine: its ranks have a rank table of their own.
  if (is("same_host_name") && launched_rank() == 1) setenv("PMI_JOBID", "another", 1);
  if (is("same_host_name")) {
    try {
      init_world(&argc, &argv);
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
      std::_Exit(1);
    }
  }
  World& world = init_world(&argc, &argv);
  if (is("never_finalizes")) return 0;
  if (is("returns_a_status")) return 3;
  world.set_deadline(std::chrono::milliseconds(500));
  try {
    run(world);
  } catch (const std::exception& error) {
    abort_job(error.what());
  }
  finalize_world();
}
