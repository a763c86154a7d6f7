// A copy-on-write alias has the value of a copy, for every order of writes to it and to its source.
// Memory counters report the bytes that the alias owns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/host_array.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/host_source.h"
#include "tests/support/error_matchers.h"
#include "tests/support/guarded_device.h"

namespace phi {
namespace {

constexpr int64_t kCount = 6000;  // of int32, which is above the limit of inline bytes
constexpr int64_t kPart = 1504;   // a multiple of 16: parts begin on 64 bytes
constexpr int64_t kBytes = kCount * 4;
constexpr int64_t kPartBytes = kPart * 4;

int64_t held() { return memory_stats(CPUPlace()).current; }

class CowAliases : public ::testing::Test {
 protected:
  static DenseTensor counting(const Place& place = CPUPlace()) {
    std::vector<int32_t> values(kCount);
    std::iota(values.begin(), values.end(), 0);
    DenseTensor x = DenseTensor::empty({{kCount}, DataType::INT32}, place);
    Device::of(place).copy_from_host(static_cast<std::byte*>(x.mutable_raw_data()), values.data(),
                                     kBytes);
    return x;
  }
  /// Part number `i` of `x`, aliased.
  static DenseTensor part(const DenseTensor& x, int64_t i, int64_t count = kPart) {
    return x.alias_part({{count}, DataType::INT32}, static_cast<size_t>(i * kPartBytes));
  }
  static void expect_counts(const DenseTensor& x, int64_t first) {
    const HostArray values(x, HostArray::kRead);
    const auto* from = reinterpret_cast<const int32_t*>(values.data());
    for (int64_t i = 0; i < x.numel(); ++i) ASSERT_EQ(from[i], first + i) << "element " << i;
  }
  static void fill(DenseTensor& x, int32_t value) {
    x.storage()->note_write();
    std::fill_n(x.mutable_data<int32_t>(), x.numel(), value);
  }
  static void expect_all(const DenseTensor& x, int32_t value) {
    const auto values = x.values<int32_t>();
    EXPECT_TRUE(std::ranges::all_of(values, [&](int32_t v) { return v == value; })) << value;
  }

  RankContext context_;
  RankContext::Scope scope_{context_};
};

TEST_F(CowAliases, AnAliasIsAStorageOfItsOwnThatHoldsNothing) {
  const DenseTensor x = counting();
  const DenseTensor y = part(x, 1);
  ASSERT_TRUE(y.defined());
  EXPECT_NE(y.storage()->id(), x.storage()->id());
  EXPECT_TRUE(y.initialized());
  EXPECT_TRUE(y.computed_here());
  EXPECT_EQ(y.data<int32_t>(), x.data<int32_t>() + kPart);
  EXPECT_EQ(y.nbytes_here(), static_cast<size_t>(kPartBytes));
  EXPECT_EQ(y.storage()->nbytes_here(), 0u);
  EXPECT_EQ(y.storage()->nbytes(), static_cast<size_t>(kPartBytes));
  EXPECT_FALSE(y.storage()->owns_bytes());
  EXPECT_TRUE(x.storage()->owns_bytes());
  EXPECT_EQ(held(), kBytes);
}

TEST_F(CowAliases, AWriteToTheOwnerIsNotSeenByItsAliases) {
  DenseTensor x = counting();
  const DenseTensor a = part(x, 0), b = part(x, 2);
  fill(x, -1);
  expect_all(x, -1);
  expect_counts(a, 0);
  expect_counts(b, 2 * kPart);
  EXPECT_EQ(held(), kBytes + 2 * kPartBytes);
  EXPECT_TRUE(a.storage()->owns_bytes());
}

TEST_F(CowAliases, AWriteToAnAliasIsNotSeenByTheOwnerOrOtherAliases) {
  const DenseTensor x = counting();
  DenseTensor a = part(x, 1);
  const DenseTensor same = part(x, 1);
  fill(a, -1);
  expect_all(a, -1);
  expect_counts(x, 0);
  expect_counts(same, kPart);
  EXPECT_EQ(held(), kBytes + kPartBytes);
  EXPECT_EQ(same.data<int32_t>(), x.data<int32_t>() + kPart);
}

// Without note_write: the address to write to is a barrier by itself.
TEST_F(CowAliases, WhoeverTakesAnAddressToWriteToPartsThem) {
  DenseTensor x = counting();
  DenseTensor y = part(x, 0);
  x.mutable_data<int32_t>()[0] = 77;
  expect_counts(y, 0);
  const DenseTensor z = part(x, 1);
  HostArray update(x, HostArray::kUpdate);
  std::memset(update.data(), 0, kBytes);
  update.finish();
  expect_counts(z, kPart);
  DenseTensor w = part(y, 0, 100);
  static_cast<int32_t*>(y.mutable_raw_data())[0] = 5;
  expect_counts(w, 0);
}

TEST_F(CowAliases, ReadingPartsNothing) {
  const DenseTensor x = counting();
  const DenseTensor y = part(x, 1);
  const HostArray read(y, HostArray::kRead), whole(x, HostArray::kRead);
  EXPECT_EQ(y.raw_data(), x.data<int32_t>() + kPart);
  EXPECT_EQ(y.clone().values<int32_t>()[0], kPart);
  EXPECT_EQ(held(), kBytes);
}

// `from` is aliased of `to`, so that the one's bytes are where the other's are written.
TEST_F(CowAliases, CopiesFromAnAliasIntoItsOwner) {
  DenseTensor x = counting();
  const DenseTensor tail = part(x, 1, kCount - kPart);
  DenseTensor head = x.rows(0, kCount - kPart);
  copy_array(tail, head);
  expect_counts(head, kPart);
  expect_counts(tail, kPart);
}

TEST_F(CowAliases, AViewOfAnAliasSharesWithItAndNotWithTheOwner) {
  const DenseTensor x = counting();
  DenseTensor y = part(x, 1);
  DenseTensor square = y.view({kPart / 2, 2});
  fill(square, -1);
  expect_all(y, -1);
  EXPECT_EQ(square.data<int32_t>(), y.data<int32_t>());
  expect_counts(x, 0);
}

TEST_F(CowAliases, AnAliasOfAViewBeginsInTheView) {
  const DenseTensor x = counting();
  const DenseTensor view = x.rows(kPart, 3 * kPart);
  expect_counts(part(view, 1), 2 * kPart);
}

TEST_F(CowAliases, AnAliasOfAnAliasNeedsTheFirstOwnerAlone) {
  DenseTensor x = counting();
  DenseTensor y = part(x, 1, 2 * kPart);
  DenseTensor z = part(y, 1);
  fill(y, -1);
  expect_counts(z, 2 * kPart);
  EXPECT_EQ(z.data<int32_t>(), x.data<int32_t>() + 2 * kPart) << "it did not have to move";
  // Now y has bytes of its own, which may have aliases.
  const DenseTensor w = part(y, 1);
  EXPECT_EQ(w.data<int32_t>(), y.data<int32_t>() + kPart);
  y = {};
  EXPECT_EQ(held(), kBytes + 2 * kPartBytes) << "w keeps them";
  expect_all(w, -1);
  fill(x, -2);
  expect_counts(z, 2 * kPart);
  expect_all(w, -1);
}

TEST_F(CowAliases, AnAliasKeepsTheOwnersBytesAndNoMore) {
  DenseTensor x = counting();
  DenseTensor y = part(x, 1);
  const DenseTensor z = part(y, 0);
  x = {};
  EXPECT_EQ(held(), kBytes);
  expect_counts(y, kPart);
  fill(y, -1);
  EXPECT_EQ(held(), kBytes + kPartBytes);
  expect_counts(z, kPart);
  y = {};
  EXPECT_EQ(held(), kBytes);
  expect_counts(z, kPart);
}

TEST_F(CowAliases, AWrittenAliasLetsItsOwnerGo) {
  DenseTensor x = counting();
  DenseTensor y = part(x, 1);
  x = {};
  fill(y, -1);
  EXPECT_EQ(held(), kPartBytes);
  DenseTensor u = counting();
  const DenseTensor v = part(u, 1);
  fill(u, -1);
  u = {};
  EXPECT_EQ(held(), 2 * kPartBytes);
  expect_counts(v, kPart);
}

TEST_F(CowAliases, AWriteWithoutLiveAliasesCostsNothing) {
  DenseTensor x = counting();
  { const DenseTensor gone = part(x, 1), other = part(x, 2); }
  const int64_t reserved = memory_stats(CPUPlace()).reserved;
  reset_memory_peak(CPUPlace());
  fill(x, -1);
  EXPECT_EQ(memory_stats(CPUPlace()).peak, kBytes);
  EXPECT_EQ(memory_stats(CPUPlace()).reserved, reserved);
}

TEST_F(CowAliases, VersionsAreApart) {
  DenseTensor x = counting();
  DenseTensor y = part(x, 1);
  EXPECT_EQ(y.storage()->version(), 0u);
  fill(x, 1);
  EXPECT_EQ(x.storage()->version(), 1u);
  EXPECT_EQ(y.storage()->version(), 0u);
  fill(y, 1);
  fill(y, 2);
  EXPECT_EQ(x.storage()->version(), 1u);
  EXPECT_EQ(y.storage()->version(), 2u);
}

TEST_F(CowAliases, WhatIsKeptHoldsItsAddressThroughWritesToTheOwner) {
  DenseTensor x = counting();
  DenseTensor y = part(x, 1);
  const int32_t* const before = y.data<int32_t>();
  y.storage()->keep_bytes();
  const int32_t* const kept = y.data<int32_t>();
  EXPECT_NE(kept, before);
  EXPECT_EQ(before[0], kPart) << "who reads there may go on";
  y.storage()->keep_bytes();
  x.storage()->keep_bytes();
  fill(x, -1);
  EXPECT_EQ(y.data<int32_t>(), kept);
  expect_counts(y, kPart);
  EXPECT_FALSE(part(y, 0).defined()) << "it is still tied to x";
  x = {};
  EXPECT_EQ(held(), kBytes + kPartBytes) << "for who may still read there";
  fill(y, 3);
  EXPECT_EQ(y.data<int32_t>(), kept);
  EXPECT_EQ(held(), kPartBytes);
  EXPECT_TRUE(part(y, 0).defined());
}

// What a message reads stays where it is and what it is, whoever writes.
TEST_F(CowAliases, WhatIsFixedHoldsItsAddressThroughWritesToAnything) {
  DenseTensor x = counting();
  const DenseTensor other = part(x, 2);
  const DenseTensor sent = x.fixed(), rows = x.rows(kPart, 2 * kPart).fixed();
  const int32_t* const address = x.data<int32_t>();
  EXPECT_EQ(sent.data<int32_t>(), address);
  EXPECT_EQ(rows.data<int32_t>(), address + kPart);
  EXPECT_EQ(held(), kBytes);
  fill(x, -1);
  expect_all(x, -1);
  EXPECT_EQ(sent.data<int32_t>(), address);
  EXPECT_EQ(rows.data<int32_t>(), address + kPart);
  expect_counts(sent, 0);
  expect_counts(rows, kPart);
  expect_counts(other, 2 * kPart);
  EXPECT_EQ(held(), 2 * kBytes);
  x = {};
  expect_counts(sent, 0);
  EXPECT_EQ(held(), kBytes);
}

TEST_F(CowAliases, OnceTheMessageHasLeftAWriteCopiesNothing) {
  DenseTensor x = counting();
  const int32_t* const address = x.data<int32_t>();
  { const DenseTensor sent = x.fixed(); }
  fill(x, -1);
  EXPECT_EQ(x.data<int32_t>(), address);
  EXPECT_TRUE(x.storage()->owns_bytes());
  expect_all(x, -1);
  EXPECT_EQ(held(), kBytes);
  EXPECT_TRUE(part(x, 1).defined());
}

TEST_F(CowAliases, OfAnAliasOrOfExposedBytesACopyIsFixed) {
  DenseTensor x = counting();
  const DenseTensor y = part(x, 1);
  const DenseTensor sent = y.fixed();
  EXPECT_NE(sent.data<int32_t>(), y.data<int32_t>());
  fill(x, -1);
  expect_counts(sent, kPart);
  DenseTensor z = counting();
  z.storage()->expose_bytes();
  const DenseTensor of_exposed = z.fixed();
  z.mutable_data<int32_t>()[0] = 77;
  expect_counts(of_exposed, 0);
}

TEST_F(CowAliases, WhatIsSentAgainIsSentFromThere) {
  DenseTensor x = counting();
  const DenseTensor first = x.fixed(), second = x.fixed();
  EXPECT_EQ(first.data<int32_t>(), second.data<int32_t>());
  DenseTensor y = part(x, 1);
  fill(y, 5);
  fill(x, -1);
  const DenseTensor third = x.fixed();
  fill(x, -2);
  expect_counts(first, 0);
  expect_counts(second, 0);
  expect_all(third, -1);
  expect_all(y, 5);
}

TEST_F(CowAliases, KeptBytesOfWhatIsSentNeedNoCopy) {
  DenseTensor x = counting();
  const DenseTensor sent = x.fixed();
  x.storage()->keep_bytes();
  EXPECT_EQ(x.data<int32_t>(), sent.data<int32_t>());
  x.storage()->swap_out(HostSource::keep(std::vector<int32_t>(kCount, 9), {kCount}));
  expect_counts(sent, 0);
  expect_all(x, 9);
}

TEST_F(CowAliases, AnAliasIsACopyThatTakesBytesWhenSomebodyWrites) {
  DenseTensor x = counting();
  DenseTensor y = x.alias();
  EXPECT_EQ(held(), kBytes);
  EXPECT_NE(y.storage()->id(), x.storage()->id());
  fill(y, 3);
  expect_counts(x, 0);
  DenseTensor small = x.rows(0, 10).alias();
  EXPECT_TRUE(small.storage()->owns_bytes()) << "a copy costs no more";
  fill(small, 4);
  expect_counts(x, 0);
}

std::shared_ptr<const Storage::Source> ones() {
  return HostSource::keep(std::vector<int32_t>(kCount, 1), {kCount});
}

TEST_F(CowAliases, WhatIsSwappedOutHasNoAliasesAndIsNone) {
  DenseTensor x = counting();
  DenseTensor y = part(x, 1);
  const DenseTensor z = part(x, 2);
  // The alias goes: nothing of x changes.
  y.storage()->swap_out(HostSource::keep(std::vector<int32_t>(kPart, 9), {kPart}));
  EXPECT_EQ(held(), kBytes);
  EXPECT_FALSE(y.initialized());
  fill(x, 4);
  expect_counts(z, 2 * kPart);
  expect_all(y, 9);
  EXPECT_EQ(held(), kBytes + 2 * kPartBytes);
  // The owner goes: its aliases keep their values.
  const DenseTensor w = part(x, 3, 1488);
  x.storage()->swap_out(ones());
  EXPECT_EQ(held(), 2 * kPartBytes + 1488 * 4);
  expect_all(w, 4);
  EXPECT_FALSE(part(x, 0).defined()) << "there is nothing here to alias";
  expect_all(x, 1);
  EXPECT_TRUE(part(x, 0).defined());
}

// The source of a swapped array returns another value after the next write of the program that
// swapped it out.
TEST_F(CowAliases, AnAliasOfASwappedArrayHasTheValueItHadThen) {
  for (const bool fixed : {false, true}) {
    DenseTensor x = counting();
    x.storage()->swap_out(ones());
    DenseTensor y = fixed ? x.fixed() : x.alias();
    EXPECT_NE(y.storage(), x.storage());
    x.storage()->swap_out(HostSource::keep(std::vector<int32_t>(kCount, 2), {kCount}));
    expect_all(y, 1);
    fill(y, 3);
    expect_all(x, 2);
  }
}

TEST_F(CowAliases, ARefusedFixedAddressLeavesTheArrayAsItIs) {
  DenseTensor x = counting();
  const DenseTensor odd = x.rows(1, kPart).fixed();  // 4 bytes beyond an allocation's alignment
  EXPECT_TRUE(odd.storage()->owns_bytes());
  EXPECT_TRUE(x.storage()->owns_bytes());
  EXPECT_EQ(held(), kBytes + (kPart - 1) * 4);
}

TEST_F(CowAliases, NothingIsAliasedWhereThereIsNothingToAlias) {
  const DenseTensor waits({{kCount}, DataType::INT32}, Storage::from_source(CPUPlace(), ones()));
  EXPECT_FALSE(part(waits, 0).defined());
  waits.raw_data();
  EXPECT_TRUE(part(waits, 0).defined());
  const DenseTensor absent({{kCount}, DataType::INT32}, Storage::placeholder(CPUPlace(), {}));
  EXPECT_FALSE(part(absent, 0).defined());
  EXPECT_FALSE(part(DenseTensor(), 0).defined());
  std::vector<int32_t> theirs(kCount);
  const DenseTensor borrowed(
      {{kCount}, DataType::INT32},
      Storage::borrow(reinterpret_cast<std::byte*>(theirs.data()), theirs.size() * 4, CPUPlace()));
  EXPECT_FALSE(part(borrowed, 0).defined());
  const DenseTensor small = DenseTensor::empty({{16}, DataType::INT32}, CPUPlace());
  EXPECT_FALSE(small.alias_part({{8}, DataType::INT32}, 0).defined()) << "its bytes end with it";
  const DenseTensor x = counting();
  EXPECT_FALSE(x.alias_part({{kPart}, DataType::INT32}, 4).defined()) << "not aligned";
  const DenseTensor none = x.alias_part({{0}, DataType::INT32}, 0);
  EXPECT_TRUE(none.initialized()) << "an empty part is an array of its own";
  EXPECT_TRUE(none.storage()->owns_bytes());
}

// Whoever has the address writes without telling, as NumPy does.
TEST_F(CowAliases, ExposedBytesAreNotAliased) {
  DenseTensor x = counting();
  const DenseTensor before = part(x, 1);
  x.storage()->expose_bytes();
  auto* const bytes = x.storage()->data();
  EXPECT_FALSE(part(x, 0).defined());
  std::memset(bytes, 0, kBytes);
  expect_counts(before, kPart);
  EXPECT_FALSE(before.storage() == x.storage());
  EXPECT_EQ(x.storage()->data(), bytes);
}

TEST_F(CowAliases, OnlyTheRankThatMadeTheBytesAliasesThem) {
  const DenseTensor x = counting();
  const DenseTensor y = part(x, 0);
  RankContext other(1, 2);
  const RankContext::Scope scope(other);
  EXPECT_FALSE(part(x, 0).defined());
  EXPECT_FALSE(part(y, 0).defined());
}

TEST_F(CowAliases, ADryRankAliasesAndPartsNothing) {
  DenseTensor x = counting();
  const DenseTensor y = part(x, 1);
  {
    RankContext dry(0, 1, Execution::kDry);
    const RankContext::Scope scope(dry);
    EXPECT_FALSE(part(x, 0).defined());
    x.storage()->note_write();
    EXPECT_EQ(x.storage()->version(), 1u);
  }
  EXPECT_FALSE(y.storage()->owns_bytes()) << "nothing was written";
  fill(x, -1);
  expect_counts(y, kPart);
}

TEST_F(CowAliases, WithoutRoomAWriteIsRefusedAndNothingChanges) {
  DenseTensor x = counting();
  DenseTensor y = part(x, 1);
  context_.memory()->set_device_limit(kBytes + kPartBytes - 1);
  EXPECT_THAT([&] { x.storage()->note_write(); },
              ThrowsError(ErrorCode::kResourceExhausted, "do not fit on the device"));
  EXPECT_THAT([&] { y.storage()->note_write(); },
              ThrowsError(ErrorCode::kResourceExhausted, "do not fit on the device"));
  EXPECT_EQ(x.storage()->version() + y.storage()->version(), 0u);
  expect_counts(x, 0);
  expect_counts(y, kPart);
  context_.memory()->set_device_limit(kBytes + kPartBytes);
  fill(x, -1);
  expect_counts(y, kPart);
}

TEST_F(CowAliases, OnADeviceWhoseMemoryTheHostDoesNotReach) {
  const Place place = testing::guarded_device(0);
  DenseTensor x = counting(place);
  const DenseTensor y = part(x, 1);
  ASSERT_TRUE(y.defined());
  EXPECT_EQ(y.place(), place);
  HostArray zeros(x, HostArray::kWrite);
  std::memset(zeros.data(), 0, kBytes);
  zeros.finish();
  expect_counts(y, kPart);
  EXPECT_EQ(memory_stats(place).current, kBytes + kPartBytes);
}

// Arrays with parts of parts, written to, dropped, kept and swapped out as a seed says, beside
// vectors that are copied.
TEST_F(CowAliases, HaveTheValuesOfCopiesWhateverHappens) {
  struct Pair {
    DenseTensor array;
    std::shared_ptr<std::vector<int32_t>> expected;  // views have one together
    size_t offset;
  };
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
    std::vector<Pair> pairs;
    for (int turn = 0; turn < 60; ++turn) {
      if (pairs.empty() || (pairs.size() < 12 && below(6) == 0)) {
        auto values = std::make_shared<std::vector<int32_t>>(kCount);
        std::iota(values->begin(), values->end(), 0);
        pairs.push_back({counting(), values, 0});
        continue;
      }
      const size_t which = below(pairs.size());
      Pair pair = pairs[which];
      const auto count = static_cast<size_t>(pair.array.numel());
      const size_t begin = below((count + 15) / 16) * 16;
      const auto size = static_cast<int64_t>(1 + below(count - begin));
      const auto first = pair.expected->begin() + static_cast<std::ptrdiff_t>(pair.offset + begin);
      switch (below(6)) {
        case 0:
        case 1: {  // a part; where there is nothing to alias a copy, as ops make one
          DenseTensor rows =
              pair.array.rows(static_cast<int64_t>(begin), static_cast<int64_t>(begin) + size);
          DenseTensor aliased = pair.array.alias_part(rows.meta(), begin * 4);
          pairs.push_back({aliased.defined() ? aliased : rows.clone(),
                           std::make_shared<std::vector<int32_t>>(first, first + size), 0});
          break;
        }
        case 2:  // a view
          pairs.push_back(
              {pair.array.rows(static_cast<int64_t>(begin), static_cast<int64_t>(begin) + size),
               pair.expected, pair.offset + begin});
          break;
        case 3: {
          DenseTensor rows =
              pair.array.rows(static_cast<int64_t>(begin), static_cast<int64_t>(begin) + size);
          const auto value = static_cast<int32_t>(random());
          fill(rows, value);
          std::fill_n(first, size, value);
          break;
        }
        case 4:
          pair.array.storage()->keep_bytes();
          break;
        default:
          pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(which));
      }
      for (const Pair& each : pairs) {
        const auto values = each.array.values<int32_t>();
        const auto from = each.expected->begin() + static_cast<std::ptrdiff_t>(each.offset);
        ASSERT_TRUE(std::equal(values.begin(), values.end(), from))
            << "seed " << seed << ", turn " << turn;
      }
    }
    pairs.clear();
    ASSERT_EQ(held(), 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace phi
