// Communication operators on plain tensors, each rank with its own; their gradients; rings that are
// not of all ranks; and what is refused.
#include <gflags/gflags.h>
#include <gmock/gmock.h>

#include <numeric>

#include "api/generated/ops/all_gather.h"
#include "api/generated/ops/all_reduce.h"
#include "api/generated/ops/all_to_all.h"
#include "api/generated/ops/assign.h"
#include "api/generated/ops/broadcast.h"
#include "api/generated/ops/c_concat.h"
#include "api/generated/ops/c_identity.h"
#include "api/generated/ops/c_split.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/multiply.h"
#include "api/generated/ops/p_recv.h"
#include "api/generated/ops/p_send.h"
#include "api/generated/ops/reduce.h"
#include "api/generated/ops/reduce_scatter.h"
#include "api/generated/ops/sum.h"
#include "distributed/api.h"
#include "distributed/comm/dry/dry_world.h"
#include "distributed/comm/local/local_world.h"
#include "phi/tensor_api.h"
#include "tests/support/assign_gpu.h"
#include "tests/support/error_matchers.h"

DEFINE_string(place, "cpu", "place of tensors and operators: cpu or gpu");
DEFINE_int32(gpus, 8, "number of GPUs; each rank uses its own if there are enough");

namespace phi {
namespace {

using distributed::World;
using ::testing::ElementsAre;

constexpr int kRanks = 3;

void run_ranks(int64_t n, const std::function<void(World& world)>& body) {
  distributed::run_ranks(n, [&](World& world) {
    if (FLAGS_place == "gpu") distributed::testing::assign_gpu(world, FLAGS_gpus);
    body(world);
  });
}

/// [rank, rank + 10, ...], of `n` elements.
Tensor own(int64_t n, const Dims& shape) {
  std::vector<float> values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(distributed::rank()) + 10.0f * static_cast<float>(i);
  }
  Tensor x = Tensor::from<float>(values, shape);
  x.set_requires_grad();
  return x;
}
std::vector<float> floats(const Tensor& x) { return x.to_vector<float>(); }
float rank() { return static_cast<float>(distributed::rank()); }

/// The gradient of x for the output's gradient `weights`.
std::vector<float> gradient(const Tensor& x, const Tensor& out, const std::vector<float>& weights) {
  sum(multiply(out, Tensor::from<float>(weights, out.shape()))).backward();
  return floats(x.grad());
}

TEST(Communication, AllGatherAndReduceScatterAreEachOthersGradients) {
  run_ranks(kRanks, [](World&) {
    const Tensor x = own(2, {2});
    const Tensor all = all_gather(x, 0, kRanks);
    EXPECT_THAT(floats(all), ElementsAre(0, 10, 1, 11, 2, 12));
    const float r = rank() + 1;  // 6 in all
    EXPECT_THAT(gradient(x, all, {r, 0, 0, r, r, r}), distributed::rank() == 0 ? ElementsAre(6, 0)
                                                      : distributed::rank() == 1
                                                          ? ElementsAre(0, 6)
                                                          : ElementsAre(6, 6));
    const Tensor y = own(3, {3});
    const Tensor part = reduce_scatter(y, 0, kRanks);
    EXPECT_THAT(floats(part), ElementsAre(3 + 30 * rank()));
    EXPECT_THAT(gradient(y, part, {r}), ElementsAre(1, 2, 3));
  });
}

TEST(Communication, ReductionsOfEveryKind) {
  run_ranks(kRanks, [](World&) {
    const Tensor x = own(2, {2});
    const Tensor sums = all_reduce(x);
    EXPECT_THAT(floats(sums), ElementsAre(3, 33));
    EXPECT_THAT(gradient(x, sums, {rank(), 1}), ElementsAre(3, 3));
    EXPECT_THAT(floats(all_reduce(x, 0, 1)), ElementsAre(2, 12));
    EXPECT_THAT(floats(all_reduce(x, 0, 2)), ElementsAre(0, 10));
    EXPECT_THAT(floats(all_reduce(x, 0, 4)), ElementsAre(1, 11));
    Tensor written = assign(x.detach());
    all_reduce_(written);
    EXPECT_THAT(floats(written), ElementsAre(3, 33));

    const Tensor y = own(1, {1});
    const Tensor at_root = reduce(y, 0, /*root_id=*/1);
    EXPECT_THAT(floats(at_root), ElementsAre(distributed::rank() == 1 ? 3 : 0));
    EXPECT_THAT(gradient(y, at_root, {rank() + 4}), ElementsAre(5));
    const Tensor z = own(1, {1});
    EXPECT_THAT(gradient(z, reduce(z, 0, 1, /*reduce_type=*/4), {rank() + 5}), ElementsAre(2));
  });
}

TEST(Communication, BroadcastGivesItsGradientsToTheRoot) {
  run_ranks(kRanks, [](World&) {
    const Tensor x = own(2, {2});
    const Tensor same = broadcast(x, 0, /*root=*/2);
    EXPECT_THAT(floats(same), ElementsAre(2, 12));
    const bool is_root = distributed::rank() == 2;
    EXPECT_THAT(gradient(x, same, {1, rank()}), is_root ? ElementsAre(3, 3) : ElementsAre(0, 0));
  });
}

TEST(Communication, AllToAllExchangesRows) {
  run_ranks(kRanks, [](World&) {
    const Tensor x = own(3, {3, 1});
    const Tensor out = all_to_all(x);
    EXPECT_THAT(floats(out), ElementsAre(10 * rank(), 10 * rank() + 1, 10 * rank() + 2));
    EXPECT_THAT(gradient(x, out, {rank(), rank() + 10, rank() + 20}),
                ElementsAre(10 * rank(), 10 * rank() + 1, 10 * rank() + 2));
  });
}

TEST(Communication, RanksSendToEachOther) {
  run_ranks(kRanks, [](World&) {
    if (distributed::rank() == 1) return;
    const int peer = distributed::rank() == 0 ? 2 : 0;
    const Tensor x = own(4, {2, 2});
    if (peer == 2) {
      EXPECT_EQ(p_send(x, 0, peer).shape(), Dims{0});
    }
    const Tensor got = p_recv(0, peer, DataType::FLOAT32, false, {2, 2});
    if (peer == 0) p_send(x, 0, peer);
    EXPECT_EQ(got.shape(), (Dims{2, 2}));
    EXPECT_EQ(floats(got)[1], 10 + static_cast<float>(peer));
  });
}

TEST(Communication, PartsOfTheLastDimSplitAndJoin) {
  run_ranks(2, [](World&) {
    const Tensor x = own(4, {2, 2});
    const auto r = static_cast<int>(distributed::rank());
    const Tensor part = c_split(x, r, 2);
    EXPECT_THAT(floats(part), r == 0 ? ElementsAre(0, 20) : ElementsAre(11, 31));
    EXPECT_THAT(gradient(x, part, {1 + rank(), 3 + rank()}), ElementsAre(1, 2, 3, 4));
    const Tensor y = own(2, {2, 1});
    const Tensor whole = c_concat(y, r, 2);
    EXPECT_THAT(floats(whole), ElementsAre(0, 1, 10, 11));
    EXPECT_THAT(gradient(y, whole, {1, 2, 3, 4}), r == 0 ? ElementsAre(1, 3) : ElementsAre(2, 4));
  });
}

TEST(Communication, IdentityAddsUpGradients) {
  run_ranks(kRanks, [](World&) {
    const Tensor x = own(1, {1});
    const Tensor same = c_identity(x);
    EXPECT_THAT(floats(same), ElementsAre(rank()));
    EXPECT_THAT(gradient(x, same, {rank() + 1}), ElementsAre(6));
  });
}

TEST(Communication, RingsAreNumberedAlikeOnAllRanks) {
  run_ranks(kRanks, [](World& world) {
    const int64_t outer[] = {2, 0};
    const int64_t alone[] = {1};
    EXPECT_EQ(world.add_ring(outer), 1);
    EXPECT_EQ(world.add_ring(alone), 2);
    const Tensor x = own(1, {1});
    if (distributed::rank() == 1) {
      EXPECT_THAT(floats(all_gather(x, 2, 1)), ElementsAre(1));
    } else {
      EXPECT_THAT(floats(all_gather(x, 1, 2)), ElementsAre(2, 0));  // in the order of the ring
    }
  });
}

TEST(Communication, DryRunsCountTheMessages) {
  distributed::DryWorld world(0, 4);
  const World::Scope scope(world);
  const Tensor sums = all_reduce(full({8}, 1.0f));
  EXPECT_EQ(sums.shape(), Dims{8});
  EXPECT_GT(world.rank_context().counters().bytes_sent, 0);
}

TEST(Communication, Refusals) {
  run_ranks(2, [](World&) {
    const Tensor x = own(3, {3});
    const auto refused = [](ErrorCode code, const char* words, const std::function<void()>& call) {
      EXPECT_THAT(call, ThrowsError(code, words));
    };
    const auto wrong = ErrorCode::kInvalidArgument;
    refused(wrong, "ring_id is 3, but this rank has rings 0 to 0", [&] { all_reduce(x, 3); });
    refused(wrong, "reduce_type is 9, but it must be", [&] { all_reduce(x, 0, 9); });
    refused(wrong, "nranks is 3, but the ring has 2 ranks", [&] { all_gather(x, 0, 3); });
    refused(wrong, "pass the number of ranks in the ring", [&] { all_gather(x); });
    refused(wrong, "ranks receive equal slices of tensor dim 0", [&] { reduce_scatter(x, 0, 2); });
    refused(wrong, "its rows must divide evenly over 2 ranks", [&] { all_to_all(x); });
    refused(wrong, "root is 2, but the ring has 2 ranks", [&] { broadcast(x, 0, 2); });
    refused(wrong, "it must be another rank of the ring", [&] { p_send(x, 0, 7); });
    refused(wrong, "ranks exchange slices of a tensor dim", [&] { all_gather(sum(x), 0, 2); });
    refused(ErrorCode::kUnimplemented, "dynamic_shape is true",
            [&] { p_recv(0, 1, DataType::FLOAT32, true); });
    refused(ErrorCode::kUnimplemented, "only sums (0) and averages",
            [&] { sum(all_reduce(x, 0, 1)).backward(); });
    const distributed::ProcessMesh mesh({2}, {"x"});
    const Tensor laid_out =
        distributed::shard_tensor(full({4}, 1.0f), mesh, {distributed::Shard(0)});
    refused(ErrorCode::kPreconditionNotMet, "communication operators are for plain tensors",
            [&] { all_reduce(laid_out); });
  });
}

}  // namespace
}  // namespace phi

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return RUN_ALL_TESTS();
}
