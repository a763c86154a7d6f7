// Operators and tensors where the rank computes on a device of its own (support/guarded_device.h);
// that all operators do is in op_parity_test and gradient_test.
#include "phi/core/device/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "api/generated/ops/add.h"
#include "api/generated/ops/exp.h"
#include "api/generated/ops/fill.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/full_like.h"
#include "api/generated/ops/relu.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/square.h"
#include "api/generated/ops/sum.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/core/box_copy.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"
#include "tests/support/guarded_device.h"

namespace phi::testing {
namespace {

using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using ::testing::ElementsAre;

const std::vector<float> kNumbers = {1, 2, 3, 4};

class OnADevice : public ::testing::Test {
 protected:
  OnADevice() : scope_(rank_) { rank_.set_place(guarded_device(0)); }

  RankContext rank_;
  RankContext::Scope scope_;
};

TEST_F(OnADevice, TensorsLieWhereTheRankComputes) {
  const Place place = guarded_device(0);
  EXPECT_EQ(Tensor::from<float>(kNumbers, {4}).place(), place);
  EXPECT_EQ(full({2}, 1.0f).place(), place);
  EXPECT_EQ(deferred_full({2}, 1.0f).place(), place);
  EXPECT_EQ(relu(full({2}, 1.0f)).place(), place);
  EXPECT_EQ(full({2}, 1.0f, DataType::FLOAT32, CPUPlace()).place(), CPUPlace());
  EXPECT_EQ(full_like(full({2}, 1.0f), 2.0f, DataType::UNDEFINED, CPUPlace()).place(), CPUPlace());
}

TEST_F(OnADevice, ValuesComeBackAsCopies) {
  const Tensor x = scale(Tensor::from<float>(kNumbers, {4}), 2.0f, 0.0f);
  EXPECT_THAT(x.to_vector<float>(), ElementsAre(2, 4, 6, 8));
  EXPECT_EQ(sum(x).item(), 20);
  EXPECT_THAT([&] { x.values<float>(); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "on custom:0"));
}

TEST_F(OnADevice, EmptyTensorsHaveNoMemoryThere) {
  const size_t held = guarded_device_at(0).held();
  const Tensor drawn = deferred_gaussian({0, 3}, 0.0f, 1.0f, 7);
  drawn.dense().raw_data();
  EXPECT_EQ(relu(drawn).shape(), Dims({0, 3}));
  EXPECT_EQ(Tensor::from<float>(std::vector<float>(), {0}).to_vector<float>().size(), 0u);
  EXPECT_EQ(guarded_device_at(0).held(), held);
}

TEST_F(OnADevice, GradientsLieThere) {
  Tensor x = Tensor::from<float>(kNumbers, {4});
  x.set_requires_grad();
  sum(square(x)).backward();
  EXPECT_EQ(x.grad().place(), guarded_device(0));
  EXPECT_THAT(x.grad().to_vector<float>(), ElementsAre(2, 4, 6, 8));
}

TEST_F(OnADevice, TensorsOfTwoPlacesDoNotMeet) {
  const Tensor here = full({2}, 1.0f);
  const Tensor there = full({2}, 1.0f, DataType::FLOAT32, CPUPlace());
  const auto error =
      ThrowsError(ErrorCode::kInvalidArgument,
                  "add needs all tensors on one place, but these are on custom:0 and on cpu");
  EXPECT_THAT([&] { add(here, there); }, error);
  const ProcessMesh mesh({1}, {"x"}, {0});
  const Tensor sharded = distributed::shard_tensor(here, mesh, {Shard(0)});
  EXPECT_THAT([&] { add(sharded, there); }, error);
  EXPECT_THAT([&] { add(sharded, there); }, error) << "also when the call is known";
  EXPECT_THAT(add(sharded, here).local().to_vector<float>(), ElementsAre(2, 2));
  EXPECT_THAT([&] { add(sharded, there); }, error);
}

TEST_F(OnADevice, ShardingMovesTheRanksPartThere) {
  const ProcessMesh mesh({1}, {"x"}, {0});
  const Tensor on_cpu = full({4}, 3.0f, DataType::FLOAT32, CPUPlace());
  const Tensor moved = distributed::shard_tensor(on_cpu, mesh, {Shard(0)});
  EXPECT_EQ(moved.place(), guarded_device(0));
  EXPECT_THAT(moved.local().to_vector<float>(), ElementsAre(3, 3, 3, 3));
}

TEST_F(OnADevice, CapturedProgramsRunThere) {
  const Tensor x = Tensor::from<float>(kNumbers, {4});
  const auto f = [](const TensorList& in) {
    return TensorList{relu(add(square(in[0]), full({4}, -3.0f)))};
  };
  const Program program = capture(f, {x});
  for (int run = 0; run < 2; ++run) {
    const Tensor y = program.run({x})[0];
    EXPECT_EQ(y.place(), guarded_device(0));
    EXPECT_THAT(y.to_vector<float>(), ElementsAre(0, 1, 6, 13));
  }
}

// A device of its own kind whose memory is the host's.
class HostDevice final : public Device {
 public:
  HostDevice() : Device(CustomPlace(100), {.is_host = true, .kernels = DeviceKind::CPU}) {}
  std::byte* allocate(MemoryAccount&, size_t nbytes) override {
    return static_cast<std::byte*>(std::aligned_alloc(64, (nbytes + 63) / 64 * 64));
  }
  void free(MemoryAccount&, std::byte* memory, size_t) override { std::free(memory); }
  void copy_to_host(void* host, const std::byte* memory, size_t n) override {
    std::memcpy(host, memory, n);
  }
  void copy_from_host(std::byte* memory, const void* host, size_t n) override {
    std::memcpy(memory, host, n);
  }
  void copy(std::byte* to, const std::byte* from, size_t n) override { std::memcpy(to, from, n); }
  void copy_boxes(std::span<const BoxCopy> copies, size_t width) override {
    phi::copy_boxes(copies, width);
  }
  void fill(std::byte* memory, std::byte value, size_t n) override {
    std::memset(memory, static_cast<int>(value), n);
  }
};

TEST(DevicesOfTheHost, CapturedProgramsRunWhereTheirRankDoes) {
  Device::add(std::make_unique<HostDevice>());
  RankContext rank;
  const RankContext::Scope scope(rank);
  rank.set_place(CustomPlace(100));
  const Tensor x = full({2048}, 3.0f);  // with bytes of the device's own
  // A tensor that is made within the program lies there as well.
  Program program = capture(
      [](const TensorList& in) { return TensorList{add(square(in[0]), full({2048}, 1.0f))}; }, {x});
  const Tensor y = program.run({x})[0];
  EXPECT_EQ(y.place(), CustomPlace(100));
  EXPECT_THAT(y.to_vector<float>(), ::testing::Each(10));
}

// What an operator makes lies on the place of each rank, also where it is not computed.
TEST(DevicesOfRanks, RanksOutsideKnowTheirOwnPlace) {
  distributed::run_ranks(2, [](distributed::World& world) {
    const Place place = guarded_device(static_cast<int>(world.rank()));
    world.rank_context().set_place(place);
    const ProcessMesh first({1}, {"x"}, {0});
    const ProcessMesh both({2}, {"x"}, {0, 1});
    const Tensor x =
        distributed::shard_tensor(Tensor::from<float>(kNumbers, {4}), first, {Replicate()});
    const Tensor y = exp(x);
    EXPECT_EQ(y.place(), place);
    EXPECT_EQ(y.initialized(), world.rank() == 0);
    const Tensor z = distributed::reshard(relu(x), both, {Shard(0)});
    EXPECT_EQ(z.place(), place);
    const float first_value = world.rank() == 0 ? 1 : 3;
    EXPECT_THAT(z.local().to_vector<float>(), ElementsAre(first_value, first_value + 1));
  });
}

}  // namespace
}  // namespace phi::testing
