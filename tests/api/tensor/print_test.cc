// What tensors look like, and that looking changes and sends nothing.
#include "api/tensor/print.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>
#include <sstream>

#include "api/generated/ops/full.h"
#include "distributed/api.h"
#include "distributed/comm/dry/dry_world.h"
#include "phi/tensor_api.h"
#include "tests/support/rank_launcher.h"

namespace phi {
namespace {

using distributed::ProcessMesh;
using distributed::Shard;
using distributed::shard_tensor;
using distributed::World;
using distributed::testing::on_ranks;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string printed(const Tensor& x) {
  std::ostringstream out;
  out << x;
  EXPECT_EQ(out.str(), to_text(x));
  return out.str();
}

Tensor counting(const Dims& shape) {
  std::vector<int64_t> values(static_cast<size_t>(shape.numel()));
  std::iota(values.begin(), values.end(), int64_t{0});
  return from_vector(values, shape);
}

TEST(Print, ValuesStandInColumns) {
  EXPECT_EQ(printed(from_vector({1.0f, 2.5f, 3.0f, -4.0f, 5.0f, 6.0f}, {2, 3})),
            "f32[2,3]\n"
            "[[  1, 2.5,   3],\n"
            " [ -4,   5,   6]]");
  EXPECT_EQ(printed(counting({2, 2, 2})),
            "i64[2,2,2]\n"
            "[[[0, 1],\n"
            "  [2, 3]],\n"
            "\n"
            " [[4, 5],\n"
            "  [6, 7]]]");
  EXPECT_EQ(printed(full({}, 0.1f)), "f32[]\n0.1");
  EXPECT_EQ(printed(full({0, 3}, 0.1f)), "f32[0,3]\n[]");
}

TEST(Print, EveryDtypeHasTheDigitsThatTellItsValues) {
  EXPECT_EQ(printed(from_vector({true, false}, {2})), "bool[2]\n[ true, false]");
  EXPECT_EQ(printed(from_vector<uint8_t>({7, 65}, {2})), "u8[2]\n[ 7, 65]");
  EXPECT_EQ(printed(from_vector<int32_t>({-7, 65}, {2})), "i32[2]\n[-7, 65]");
  EXPECT_EQ(printed(from_vector({float16(0.1f)}, {1})), "f16[1]\n[0.099976]");
  EXPECT_EQ(printed(from_vector({bfloat16(0.1f)}, {1})), "bf16[1]\n[0.1001]");
  EXPECT_EQ(printed(from_vector({0.1f}, {1})), "f32[1]\n[0.1]");
  EXPECT_EQ(printed(from_vector({0.1, 1e-9}, {2})), "f64[2]\n[  0.1, 1e-09]");
  EXPECT_EQ(printed(from_vector({std::nanf(""), -INFINITY}, {2})), "f32[2]\n[ nan, -inf]");
}

TEST(Print, ManyValuesAreAbbreviated) {
  EXPECT_EQ(printed(counting({1001})), "i64[1001]\n[   0,    1,    2, ...,  998,  999, 1000]");
  EXPECT_EQ(printed(counting({4, 251})),
            "i64[4,251]\n"
            "[[   0,    1,    2, ...,  248,  249,  250],\n"
            " [ 251,  252,  253, ...,  499,  500,  501],\n"
            " [ 502,  503,  504, ...,  750,  751,  752],\n"
            " [ 753,  754,  755, ..., 1001, 1002, 1003]]");
  const std::string rows = printed(counting({300, 4}));
  EXPECT_THAT(rows, HasSubstr(" [   8,    9,   10,   11],\n ...,\n [1188, 1189, 1190, 1191],\n"));
  EXPECT_THAT(printed(counting({1000})), ::testing::Not(HasSubstr("...")));
}

TEST(Print, WhatHasNoValuesSaysWhy) {
  EXPECT_EQ(printed(Tensor()), "undefined tensor");
  EXPECT_EQ(printed(deferred_full({2}, 1.0f)),
            "f32[2]\nno values: they are deferred until they are used");
  EXPECT_EQ(printed(placeholder({2}, DataType::FLOAT32, CPUPlace())),
            "f32[2]\nno values: it represents a value that does not exist");
  distributed::DryWorld world(0, 2);
  const World::Scope scope(world);
  EXPECT_THAT(printed(full({2}, 1.0f)), HasSubstr("no values: this is a dry run"));
  EXPECT_THAT(printed(shard_tensor(full({2}, 1.0f), ProcessMesh({2}, {"x"}), {Shard(0)})),
              HasSubstr("no values: this is a dry run"));
}

TEST(Print, LookingDoesNotBringValuesToTheDevice) {
  const Tensor waits = from_vector({1.0f, 2.0f}, {2});
  EXPECT_EQ(printed(waits), "f32[2]\n[1, 2]");
  EXPECT_FALSE(waits.initialized());
  const Tensor deferred = deferred_full({2}, 1.0f);
  (void)printed(deferred);
  EXPECT_FALSE(deferred.initialized());
}

TEST(Print, DistributedOnesShowTheRanksPartAndSendNothing) {
  on_ranks(3, [](World& world) {
    const Tensor x =
        shard_tensor(counting({3, 2}) + 0, ProcessMesh({2}, {"x"}, {0, 2}), {Shard(0)});
    const int64_t sent = world.rank_context().counters().bytes_sent;
    const std::string text = printed(x);
    EXPECT_EQ(world.rank_context().counters().bytes_sent, sent);
    EXPECT_THAT(text, StartsWith("i64[3,2] [S0] on mesh(x=2; ranks 0,2)\n"));
    const std::string parts[] = {"rank 0 has [0:2,0:2]\n[[0, 1],\n [2, 3]]",
                                 "rank 1 is outside the mesh", "rank 2 has [2:3,0:2]\n[[4, 5]]"};
    EXPECT_THAT(text, ::testing::EndsWith("\n" + parts[world.rank()]));
  });
}

}  // namespace
}  // namespace phi
