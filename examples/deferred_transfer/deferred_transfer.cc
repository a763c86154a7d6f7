// A table in host memory, 256 KiB, over four ranks: each gets its quarter and no more crosses.
//   mpirun -n 4 deferred_transfer
//   mpirun -n 4 deferred_transfer eager     # for comparison: all of it crosses, to every rank
#include <distributed/api.h>
#include <phi/api.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

namespace dist = phi::distributed;
using dist::Shard;

namespace {

void tell(const char* when) {
  const phi::TransferStats stats = phi::transfer_stats();
  const auto& up = stats.of(phi::Tier::kHost, phi::Tier::kDevice);
  const auto& down = stats.of(phi::Tier::kDevice, phi::Tier::kHost);
  const auto on = [](auto where) { return static_cast<long>(phi::memory_stats(where).current); };
  std::printf("rank %d, %s: host to device %ld bytes, back %ld; allocated: host %ld, device %ld\n",
              static_cast<int>(dist::rank()), when, static_cast<long>(up.bytes),
              static_cast<long>(down.bytes), on(phi::Tier::kHost), on(phi::CPUPlace()));
}

}  // namespace

int main(int argc, char** argv) try {
  dist::init(&argc, &argv);
  phi::set_deferred_transfer(!(argc > 1 && std::string_view(argv[1]) == "eager"));
  std::vector<float> values(1024 * 64);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 64);

  phi::Tensor table = phi::Tensor::from(std::move(values), {1024, 64});  // takes the vector
  tell("given");
  const dist::ProcessMesh mesh({4}, {"tp"});
  phi::Tensor rows = shard_tensor(table, mesh, {Shard(0)});
  table = phi::Tensor();  // nobody else needs it: the vector is freed
  tell("sharded");
  const phi::Tensor columns = dist::reshard(rows, mesh, {Shard(1)});  // from device to device
  rows = phi::Tensor();
  tell("resharded");
  const double total = dist::reshard(phi::sum(columns), mesh, {}).item();
  tell("summed");
  if (dist::rank() == 0) std::printf("sum %.0f\n", total);
  dist::finalize();
  return 0;
} catch (const phi::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  std::_Exit(1);  // mpirun ends the other ranks
}
