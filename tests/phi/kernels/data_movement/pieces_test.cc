// Pieces: what they move, and what their gradients add up. What kernels make of them is checked by
// recorded calls (autophi op --cases) and by the records of tests/ops/data_movement.
#include "phi/kernels/cpu/data_movement/pieces.h"

#include <gtest/gtest.h>

#include <numeric>

namespace phi {
namespace {

std::vector<uint32_t> counting(int64_t n) {
  std::vector<uint32_t> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

std::vector<uint32_t> copied(const Pieces& pieces, const std::vector<uint32_t>& from, size_t size) {
  std::vector<uint32_t> to(size, 0);
  PieceMoves(pieces).copy(from.data(), to.data());
  return to;
}

using Values = std::vector<uint32_t>;

TEST(RunsOf, IndicesThatRiseFallAndStandStillAreOneRunEach) {
  const std::vector<int64_t> source = {2, 1, 0, 0, 1, 2, 2, 2, -1, 5, 9};
  const std::vector<IndexRun> runs = runs_of(static_cast<int64_t>(source.size()), [&](int64_t i) {
    return source[static_cast<size_t>(i)];
  });
  int64_t covered = 0;
  for (const IndexRun& run : runs) {
    for (int64_t i = 0; i < run.count; ++i) {
      EXPECT_EQ(run.from + i * run.step, source[static_cast<size_t>(run.to + i)]);
    }
    covered += run.count;
  }
  EXPECT_EQ(covered, 10);
  EXPECT_LE(runs.size(), 5u);
  EXPECT_TRUE(runs_of(0, [](int64_t) { return 0; }).empty());
}

TEST(Pieces, TurnTheRowsOfAMatrix) {
  Pieces pieces;
  pieces.append(2, {3, 3});
  pieces.append({{0, 2, 3, -1}}, {1, 1});
  EXPECT_EQ(copied(pieces, counting(6), 6), (Values{3, 2, 1, 6, 5, 4}));
}

TEST(Pieces, RunsOfSeveralLoopsMakeAllTheirBoxes) {
  Pieces pieces;  // a roll by one in both tensor dims
  pieces.append({{0, 1, 1, 1}, {1, 0, 1, 1}}, {3, 3});
  pieces.append({{0, 2, 1, 1}, {1, 0, 2, 1}}, {1, 1});
  EXPECT_EQ(copied(pieces, counting(6), 6), (Values{6, 4, 5, 3, 1, 2}));
}

// Long rows, whose runs go side by side.
TEST(Pieces, ARollOfLongRowsGoesThereAndBack) {
  constexpr int64_t kRows = 3, kColumns = 200, kBy = 7;
  Pieces pieces;
  pieces.append({{0, 2, 1, 1}, {1, 0, 2, 1}}, {kColumns, kColumns});
  pieces.append({{0, kColumns - kBy, kBy, 1}, {kBy, 0, kColumns - kBy, 1}}, {1, 1});
  const Values in = counting(kRows * kColumns);
  const Values out = copied(pieces, in, in.size());
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t c = 0; c < kColumns; ++c) {
      const int64_t to = (r + 1) % kRows * kColumns + (c + kBy) % kColumns;
      ASSERT_EQ(out[static_cast<size_t>(to)], in[static_cast<size_t>(r * kColumns + c)]);
    }
  }
  Values back(in.size(), 0), sums(in.size(), 1);
  PieceMoves(pieces).copy_back(out.data(), back.data());
  EXPECT_EQ(back, in);
  PieceMoves(pieces).add_back(out.data(), sums.data());
  for (size_t i = 0; i < in.size(); ++i) ASSERT_EQ(sums[i], in[i] + 1);
}

// Those of 4, 8, 16 and 32 elements have loops of their own.
TEST(Pieces, WindowsOfAnyLengthAreCopied) {
  constexpr int64_t kWindows = 5, kGroups = 3, kStep = 3, kExtent = 60;
  const Values in = counting(kGroups * kExtent);
  for (int64_t length = 1; length <= 40; ++length) {
    Pieces windows;
    windows.append(kGroups, {kWindows * length, kExtent});
    windows.append(kWindows, {length, kStep});
    windows.append(length, {1, 1});
    Values expected;
    for (int64_t i = 0; i < kGroups * kWindows * length; ++i) {
      const int64_t from =
          i / length / kWindows * kExtent + i / length % kWindows * kStep + i % length;
      expected.push_back(in[static_cast<size_t>(from)]);
    }
    EXPECT_EQ(copied(windows, in, expected.size()), expected) << length;
  }
}

template <typename W>
void expect_every_second_is_copied() {
  for (int64_t count = 1; count <= 70; ++count) {
    std::vector<W> from(static_cast<size_t>(2 * count - 1)),
        to(from.size());  // nothing behind the last
    std::iota(from.begin(), from.end(), W{1});
    Pieces pieces;
    pieces.append({{0, 0, count, 2}}, {1, 1});
    PieceMoves(pieces).copy(from.data(), to.data());
    for (int64_t i = 0; i < std::ssize(to); ++i) {
      ASSERT_EQ(to[i], i < count ? from[2 * i] : W{0}) << count << ", " << i;
    }
  }
}

TEST(Pieces, EverySecondElementIsCopied) {
  expect_every_second_is_copied<uint8_t>();
  expect_every_second_is_copied<uint16_t>();
  expect_every_second_is_copied<uint32_t>();
  expect_every_second_is_copied<uint64_t>();
}

// Runs of one element beside long ones, in more rows than go side by side at a time.
TEST(Pieces, ReflectedEdgesOfManyRows) {
  constexpr int64_t kPlanes = 2, kRows = 37, kColumns = 21, kWide = kColumns + 2;
  Pieces pieces;
  pieces.append(kPlanes, {(kRows + 1) * kWide, kRows * kColumns});
  pieces.append({{0, 1, 1, 1}, {1, 0, kRows, 1}}, {kWide, kColumns});
  pieces.append({{0, 1, 1, 1}, {1, 0, kColumns, 1}, {kColumns + 1, kColumns - 2, 1, 1}}, {1, 1});
  const Values in = counting(kPlanes * kRows * kColumns);
  const Values out = copied(pieces, in, kPlanes * (kRows + 1) * kWide);
  Values expected_sums(in.size(), 0);
  for (int64_t i = 0; i < std::ssize(out); ++i) {
    const int64_t row = i / kWide % (kRows + 1), column = i % kWide - 1;
    const int64_t from_row = row == 0 ? 1 : row - 1;
    const int64_t from_column = column < 0 ? 1 : column < kColumns ? column : kColumns - 2;
    const int64_t from = (i / kWide / (kRows + 1) * kRows + from_row) * kColumns + from_column;
    ASSERT_EQ(out[static_cast<size_t>(i)], in[static_cast<size_t>(from)]) << i;
    expected_sums[static_cast<size_t>(from)] += out[static_cast<size_t>(i)];
  }
  Values sums(in.size(), 0);
  PieceMoves(pieces).add_back(out.data(), sums.data());
  EXPECT_EQ(sums, expected_sums);
}

TEST(Pieces, ALoopThatStandsStillRepeats) {
  Pieces pieces;
  pieces.append(20, {2, 1});
  pieces.append(2, {1, 0});
  const Values out = copied(pieces, counting(20), 40);
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i / 2 + 1);
}

TEST(Pieces, NothingMovesWhereALoopHasNoTurns) {
  Pieces pieces;
  pieces.append(2, {1, 1});
  pieces.append(0, {1, 1});
  EXPECT_EQ(copied(pieces, counting(2), 2), (Values{0, 0}));
  Pieces none;
  none.append(std::vector<IndexRun>{}, {1, 1});
  EXPECT_EQ(copied(none, counting(2), 2), (Values{0, 0}));
}

TEST(Pieces, WithoutLoopsOneElementMoves) {
  EXPECT_EQ(copied(Pieces({1, 2}), counting(3), 2), (Values{0, 3}));
}

TEST(SumBack, OverlappingWindowsAddUp) {
  Pieces windows;  // 3 windows of 2 elements of 4
  windows.append(3, {2, 1});
  windows.append(2, {1, 1});
  const std::vector<float> grad(6, 1.0f);
  std::vector<float> sums(4, 7.0f);
  sum_back(windows, grad.data(), sums.data(), 4);
  EXPECT_EQ(sums, (std::vector<float>{1, 2, 2, 1}));
}

TEST(SumBack, SixteenBitSumsAreKeptInFloat) {
  Pieces repeated;
  repeated.append(300, {1, 0});
  const std::vector<bfloat16> grad(300, bfloat16(1.0f));
  bfloat16 sum;
  sum_back(repeated, grad.data(), &sum, 1);
  EXPECT_EQ(static_cast<float>(sum), 300.0f);
}

}  // namespace
}  // namespace phi
