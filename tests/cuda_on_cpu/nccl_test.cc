// The stand-in of NCCL, used rightly: messages, groups, collectives, graphs, and communicators that
// do not block.
#include <cmath>
#include <set>

#include "cuda_on_cpu/faulty_kernels.h"
#include "cuda_on_cpu/nccl_ranks.h"

namespace cuda_on_cpu_test {
namespace {

struct Seeds : ::testing::TestWithParam<int> {
  Seeds() { choose(); }
  ~Seeds() override { cuda_on_cpu::reset(); }
  // 0 and 1 are the orders without a seed.
  static void choose() {
    const int seed = GetParam();
    cuda_on_cpu::set_order(seed == 0   ? cuda_on_cpu::Order::kForward
                           : seed == 1 ? cuda_on_cpu::Order::kBackward
                                       : cuda_on_cpu::Order::kDrawn,
                           static_cast<uint64_t>(seed));
  }
};
INSTANTIATE_TEST_SUITE_P(Orders, Seeds, ::testing::Range(0, 6));

TEST_P(Seeds, Ring) {
  on_ranks(4, [](Rank& r) {
    float* out = r.filled(static_cast<float>(r.rank), 100);
    float* in = r.gpu.allocate<float>(100);
    EXPECT_DONE(ncclGroupStart());
    EXPECT_DONE(ncclSend(out, 100, ncclFloat32, (r.rank + 1) % 4, r.comm, r.stream));
    EXPECT_DONE(ncclRecv(in, 100, ncclFloat32, (r.rank + 3) % 4, r.comm, r.stream));
    EXPECT_DONE(ncclGroupEnd());
    EXPECT_EQ(r.gpu.download(in, 100),
              std::vector<float>(100, static_cast<float>((r.rank + 3) % 4)));
    return false;
  });
}

}  // namespace
}  // namespace cuda_on_cpu_test
