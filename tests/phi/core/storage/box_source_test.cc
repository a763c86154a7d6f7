// Parts of sources: what they give, and what a tensor made of one costs.
#include "phi/core/storage/box_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "phi/core/rank_context.h"
#include "phi/core/storage/host_source.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

using ::testing::ElementsAre;

// 0 to 11 in three rows.
std::shared_ptr<const HostSource> whole() {
  std::vector<int32_t> values(12);
  std::iota(values.begin(), values.end(), 0);
  return HostSource::keep(std::move(values), {3, 4});
}

TEST(BoxSource, GivesBoxesOfTheBox) {
  const BoxSource part(whole(), {{1, 1}, {2, 3}});  // 5 6 7, 9 10 11
  EXPECT_EQ(part.meta().to_string(), "i32[2,3]");
  DenseTensor out = DenseTensor::empty({{2, 1}, DataType::INT32}, CPUPlace());
  part.read({{0, 2}, {2, 1}}, &out);
  EXPECT_THAT(out.values<int32_t>(), ElementsAre(7, 11));
}

TEST(BoxSource, OfABoxSourceIsOneToo) {
  const auto rows = std::make_shared<const BoxSource>(whole(), Box{{1, 0}, {2, 4}});
  const DenseTensor x({{1, 2}, DataType::INT32},
                      Storage::from_source(CPUPlace(), std::make_shared<const BoxSource>(
                                                           rows, Box{{1, 2}, {1, 2}})));
  EXPECT_THAT(x.values<int32_t>(), ElementsAre(10, 11));
}

TEST(BoxSource, OnlyTheBoxCrosses) {
  RankContext context;
  const RankContext::Scope scope(context);
  const auto storage = Storage::from_source(
      CPUPlace(), std::make_shared<const BoxSource>(whole(), Box{{0, 1}, {3, 2}}));
  EXPECT_EQ(storage->nbytes(), 24u);
  EXPECT_EQ(storage->state(), StorageState::kDeferred);
  storage->materialise();
  EXPECT_EQ(transfer_stats().of(Tier::kHost, Tier::kDevice), (TransferCount{1, 24}));
}

TEST(BoxSource, MustLieWithinTheWhole) {
  EXPECT_THAT(
      [] {
        BoxSource(whole(), {{2, 0}, {2, 4}});
      },
      ThrowsError(ErrorCode::kOutOfRange, "box [2:4,0:4] is not within a tensor of i32[3,4]"));
  EXPECT_THAT(
      [] {
        BoxSource(whole(), {{0}, {3}});
      },
      ThrowsError(ErrorCode::kOutOfRange, "is not within"));
  EXPECT_EQ(BoxSource(whole(), {{3, 0}, {0, 4}}).meta().numel(), 0);
}

}  // namespace
}  // namespace phi
