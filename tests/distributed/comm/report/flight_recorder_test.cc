// The last calls of a rank: which are kept, what is seen of them, also by one who looks while they
// are written.
#include "distributed/comm/report/flight_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <thread>

#include "distributed/comm/dry/dry_world.h"

namespace phi::distributed {
namespace {

class FlightRecorderTest : public ::testing::Test {
 protected:
  CollectiveCall call(uint64_t sequence, CommOp op = CommOp::kBarrier) {
    CollectiveCall made{.op = op};
    made.group = &world_.everyone();
    made.sequence = sequence;
    made.count = static_cast<int64_t>(sequence);
    made.bytes = static_cast<int64_t>(sequence);
    made.root = static_cast<int64_t>(sequence);
    return made;
  }
  uint64_t hash() { return world_.everyone().hash(); }

  DryWorld world_{0, 2};
  std::unique_ptr<FlightRecorder> recorder_ = std::make_unique<FlightRecorder>();
};

TEST_F(FlightRecorderTest, AnEmptyOneHasNothing) {
  EXPECT_TRUE(recorder_->calls().empty());
  EXPECT_FALSE(recorder_->has_reached(hash(), 1));
  EXPECT_THAT(recorder_->name_of_group(7), ::testing::HasSubstr("of hash 7"));
}

TEST_F(FlightRecorderTest, KeepsTheLastAndRemembersThatAllWereMade) {
  for (uint64_t i = 1; i <= 3 * FlightRecorder::kCalls + 5; ++i) {
    recorder_->note(call(i), CallState::kWaiting);
    recorder_->note(call(i), CallState::kFinished);
  }
  const auto calls = recorder_->calls();
  ASSERT_EQ(calls.size(), FlightRecorder::kCalls);
  EXPECT_EQ(calls.front().call.sequence, 2 * FlightRecorder::kCalls + 6);
  EXPECT_EQ(calls.back().call.sequence, 3 * FlightRecorder::kCalls + 5);
  EXPECT_GE(calls.back().finished_ns, calls.back().started_ns);
  EXPECT_TRUE(recorder_->has_reached(hash(), 1));
  EXPECT_FALSE(recorder_->has_reached(hash(), 3 * FlightRecorder::kCalls + 6));
  EXPECT_EQ(recorder_->name_of_group(hash()), "{0,1}");
}

TEST_F(FlightRecorderTest, ACallIsOneEntryFromItsStartToItsEnd) {
  recorder_->note(call(1, CommOp::kExchange), CallState::kStarted);
  recorder_->note(call(2), CallState::kWaiting);
  EXPECT_EQ(recorder_->calls()[0].state, CallState::kStarted);
  recorder_->note(call(1, CommOp::kExchange), CallState::kWaiting);
  EXPECT_EQ(recorder_->calls()[0].state, CallState::kWaiting);
  recorder_->note(call(1, CommOp::kExchange), CallState::kFinished);
  ASSERT_EQ(recorder_->calls().size(), 2u);
  EXPECT_EQ(recorder_->calls()[0].state, CallState::kFinished);
  EXPECT_EQ(recorder_->calls()[1].finished_ns, 0);
}

// A reader never sees a partly written call.
TEST_F(FlightRecorderTest, NobodySeesHalfACall) {
  std::atomic<bool> over{false};
  std::thread writer([&] {
    for (uint64_t i = 1; i <= 100'000; ++i) recorder_->note(call(i), CallState::kWaiting);
    over = true;
  });
  int64_t looks = 0;
  while (!over || looks == 0) {
    for (const FlightRecorder::Entry& entry : recorder_->calls()) {
      const auto number = static_cast<int64_t>(entry.call.sequence);
      ASSERT_EQ(entry.call.count, number);
      ASSERT_EQ(entry.call.bytes, number);
      ASSERT_EQ(entry.call.root, number);
      ++looks;
    }
  }
  writer.join();
}

TEST(CallHeader, DifferencesAreNamedInWords) {
  DryWorld world(0, 2);
  CollectiveCall call{.op = CommOp::kAllReduce, .dtype = DataType::FLOAT32, .count = 6};
  call.group = &world.everyone();
  call.sequence = 2;
  call.reduce = ReduceKind::kSum;
  call.shape = Dims{2, 3};
  const CallHeader a = CallHeader::of(call);
  EXPECT_TRUE(calls_match(a, a, /*strict=*/true));
  EXPECT_EQ(difference(a, a, /*strict=*/true), "");
  call.scope = "matmul";
  EXPECT_TRUE(calls_match(a, CallHeader::of(call), /*strict=*/false));
  EXPECT_FALSE(calls_match(a, CallHeader::of(call), /*strict=*/true));
  call.shape = Dims{3, 2};
  call.dtype = DataType::INT32;
  call.reduce = std::nullopt;
  EXPECT_FALSE(calls_match(a, CallHeader::of(call), /*strict=*/false));
  EXPECT_EQ(difference(a, CallHeader::of(call), /*strict=*/true),
            "dtype f32 and i32, reduction sum and none, shape [2,3] and [3,2], source no operator "
            "and matmul");
}

TEST(CallHeader, IsPackedAsShortAsItIs) {
  DryWorld world(0, 2);
  CollectiveCall call{
      .op = CommOp::kAllReduce, .scope = "matmul", .dtype = DataType::FLOAT32, .count = 6};
  call.group = &world.everyone();
  for (const int ndim : {-1, 0, 2, kMaxNdim}) {
    if (ndim >= 0) call.shape = Dims::filled(ndim, 3);
    const CallHeader plain = CallHeader::of(call);
    std::array<std::byte, sizeof(CallHeader) + 8> bytes;
    bytes.fill(std::byte{'y'});
    const size_t size = plain.pack(bytes.data());
    EXPECT_EQ(size, 64 + 8 * static_cast<size_t>(std::max(ndim, 0)) + 7);
    CallHeader read;
    EXPECT_EQ(CallHeader::unpack(bytes, &read), size);
    EXPECT_EQ(std::memcmp(&read, &plain, sizeof(plain)), 0);
    for (size_t cut = 0; cut < size; ++cut) {
      EXPECT_EQ(CallHeader::unpack(std::span(bytes).first(cut), &read), 0u) << cut;
    }
  }
}

TEST(CallHeader, GeneratorsAreCompared) {
  DryWorld world(0, 2);
  CollectiveCall call{.op = CommOp::kAllReduce, .seed = 7, .draws = 2};
  call.group = &world.everyone();
  const CallHeader ours = CallHeader::of(call);
  call.seed = 8;
  const CallHeader other_seed = CallHeader::of(call);
  call.seed = 7;
  call.draws = 3;
  const CallHeader other_draws = CallHeader::of(call);
  EXPECT_TRUE(calls_match(ours, ours, true));
  EXPECT_FALSE(calls_match(ours, other_seed, false));
  EXPECT_FALSE(calls_match(ours, other_draws, false));
  EXPECT_EQ(difference(ours, other_seed, false), "seed 7 and 8");
  EXPECT_EQ(difference(ours, other_draws, false), "draws without a seed 2 and 3");
  const auto said = mismatch({"{0,1}", {0, ours}, 4, {1, other_seed}, 4}, false);
  EXPECT_NE(said.find("pass the same number to seed() on all ranks"), std::string::npos) << said;
}

TEST(CallHeader, TextThatIsTooLongIsCut) {
  DryWorld world(0, 2);
  const std::string scope(200, 'x');
  CollectiveCall call{.op = CommOp::kBarrier, .scope = scope.c_str()};
  call.group = &world.everyone();
  EXPECT_EQ(std::string(CallHeader::of(call).scope), std::string(47, 'x'));
}

}  // namespace
}  // namespace phi::distributed
