// Reshard against the best raw MPI way to the same result, measured in turns in one run:
//   mpirun -n 4 build/bin/reshard_vs_mpi [MiB] [repeats]
//
// For each reshard several raw ways are tried on bare buffers (MPI's own collective, and for
// reductions an all-to-all followed by a vectorised local sum); `ratio` is the best raw way's
// median time over ours, so 1 is parity and more is better; `of fastest` is the same of the fastest
// repeats, which other work on the machine disturbs least. Both sides reuse warm output memory
// where they can; ours allocates its output as a user's call does.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "distributed/comm/world.h"
#include "distributed/reshard/execute.h"

namespace phi::distributed {
namespace {

struct Way {
  std::string name;
  std::function<void()> run;
};

double seconds(const std::function<void()>& body) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  body();
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - start;
}

double fastest(const std::vector<double>& times) {
  return *std::min_element(times.begin(), times.end());
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

// Ours first in `ways`. All take turns, so that the machine's moods hit them alike.
void compare(const std::string& title, const std::vector<Way>& ways, int repeats) {
  std::vector<std::vector<double>> times(ways.size());
  for (int i = -2; i < repeats; ++i) {
    for (size_t w = 0; w < ways.size(); ++w) {
      const double t = seconds(ways[w].run);
      if (i >= 0) times[w].push_back(t);
    }
  }
  size_t best = 1;
  for (size_t w = 2; w < ways.size(); ++w) {
    if (median(times[w]) < median(times[best])) best = w;
  }
  const double ours = median(times[0]), raw = median(times[best]);
  const double fastest_ratio = fastest(times[best]) / fastest(times[0]);
  if (World::current().rank() == 0) {
    fmt::print(
        "{:<14} ours {:8.3f} ms   best raw {:8.3f} ms ({})   ratio {:.2f}   of fastest {:.2f}\n",
        title, ours * 1e3, raw * 1e3, ways[best].name, raw / ours, fastest_ratio);
  }
}

void add_parts(const std::vector<float>& parts, int64_t count, int64_t ranks, float* out) {
  std::memcpy(out, parts.data(), count * sizeof(float));
  for (int64_t r = 1; r < ranks; ++r) {
    const float* part = parts.data() + r * count;
    for (int64_t i = 0; i < count; ++i) out[i] += part[i];
  }
}

void run(int64_t mib, int repeats) {
  World& world = World::current();
  const int64_t p = world.size(), side = 1024 * p;
  const int64_t rows = mib * (1 << 20) / 4 / side / p * p;
  const Dims shape{rows, side};
  const int64_t total = rows * side, share = total / p;
  const ProcessMesh mesh({p}, {"x"});
  const auto tensor = [&](Placement placement) {
    DistTensor x =
        DistTensor::empty({shape, DataType::FLOAT32}, TensorDistAttr::get(mesh, {placement}),
                          CPUPlace(), world.rank());
    std::fill_n(x.local().mutable_data<float>(), x.local().numel(), 1.0f);
    return x;
  };
  const auto ours = [&](const DistTensor& x, Placement to) {
    const auto* attr = TensorDistAttr::get(mesh, {to});
    return Way{"", [&x, attr] { reshard(x, attr); }};
  };
  std::vector<float> whole(total, 1.0f), other(total, 1.0f), part(share, 1.0f), packed(share, 1.0f);
  const int n = static_cast<int>(share), chunk = static_cast<int>(share / p);
  const auto all_to_all_sum = [&] {
    MPI_Alltoall(whole.data(), n, MPI_FLOAT, other.data(), n, MPI_FLOAT, MPI_COMM_WORLD);
    add_parts(other, share, p, part.data());
  };

  const DistTensor s0 = tensor(Shard(0)), s1 = tensor(Shard(1)), sum = tensor(Partial());
  compare("S0 -> R",
          {ours(s0, Replicate()),
           {"allgather",
            [&] {
              MPI_Allgather(part.data(), n, MPI_FLOAT, whole.data(), n, MPI_FLOAT, MPI_COMM_WORLD);
            }}},
          repeats);
  compare("S0 -> S1",
          {ours(s0, Shard(1)),
           {"pack + alltoall",
            [&] {
              const int64_t my_rows = rows / p, width = side / p;
              for (int64_t r = 0; r < p; ++r) {
                for (int64_t i = 0; i < my_rows; ++i) {
                  std::memcpy(packed.data() + (r * my_rows + i) * width,
                              part.data() + i * side + r * width, width * sizeof(float));
                }
              }
              MPI_Alltoall(packed.data(), chunk, MPI_FLOAT, other.data(), chunk, MPI_FLOAT,
                           MPI_COMM_WORLD);
            }}},
          repeats);
  compare("P(sum) -> S0",
          {ours(sum, Shard(0)),
           {"reduce_scatter",
            [&] {
              MPI_Reduce_scatter_block(whole.data(), part.data(), n, MPI_FLOAT, MPI_SUM,
                                       MPI_COMM_WORLD);
            }},
           {"alltoall + local sum", all_to_all_sum}},
          repeats);
  compare("P(sum) -> R",
          {ours(sum, Replicate()),
           {"allreduce",
            [&] {
              MPI_Allreduce(whole.data(), other.data(), static_cast<int>(total), MPI_FLOAT, MPI_SUM,
                            MPI_COMM_WORLD);
            }},
           {"alltoall + local sum + allgather",
            [&] {
              all_to_all_sum();
              MPI_Allgather(part.data(), n, MPI_FLOAT, other.data(), n, MPI_FLOAT, MPI_COMM_WORLD);
            }}},
          repeats);
}

}  // namespace
}  // namespace phi::distributed

int main(int argc, char** argv) {
  using namespace phi::distributed;
  init_world(&argc, &argv);
  if (World::current().backend() != "mpi") abort_job("start this with mpirun.");
  run(argc > 1 ? std::stoll(argv[1]) : 64, argc > 2 ? std::stoi(argv[2]) : 9);
  finalize_world();
}
