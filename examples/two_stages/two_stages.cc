// A two-layer network over two pipeline stages of two tensor-parallel ranks each:
//   mpirun -n 4 two_stages
#include <distributed/api.h>
#include <phi/api.h>

#include <cstdio>
#include <cstdlib>

namespace dist = phi::distributed;
using dist::Replicate;
using dist::Shard;

int main(int argc, char** argv) try {
  dist::init(&argc, &argv);
  const dist::ProcessMesh stage0({2}, {"tp"}, {0, 1}), stage1({2}, {"tp"}, {2, 3});
  // No rank ever holds a whole weight.
  const phi::Tensor w0 =
      shard_tensor(phi::deferred_gaussian({64, 256}, 0, 0.1f, 1), stage0, {Shard(1)});
  const phi::Tensor w1 =
      shard_tensor(phi::deferred_gaussian({256, 64}, 0, 0.1f, 2), stage1, {Shard(0)});
  const phi::Tensor x = shard_tensor(phi::gaussian({8, 64}, 0, 1, 3), stage0, {Replicate()});

  const phi::Tensor h = phi::gelu(phi::matmul(x, w0));  // ranks 2 and 3: 0 bytes, 0 kernels
  const phi::Tensor y = phi::matmul(h, w1);             // h travels once; ranks 0 and 1 only send
  std::printf("rank %d: h %s, %zu bytes here; y %s, %zu bytes here\n",
              static_cast<int>(dist::rank()), h.to_string().c_str(), h.nbytes_here(),
              y.to_string().c_str(), y.nbytes_here());

  const dist::ProcessMesh all({4}, {"all"});
  const phi::Tensor loss = dist::reshard(phi::mean(phi::square(y)), all, {Replicate()});
  if (dist::rank() == 0) std::printf("loss %.6f\n", loss.item());
  dist::finalize();
  return 0;
} catch (const phi::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  std::_Exit(1);  // mpirun ends the other ranks
}
