// Every changed bit, and a page in the wrong place, changes the checksum.
#include "phi/memory/io/page_checksum.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "phi/memory/io/aligned_buffer.h"

namespace phi::memory {
namespace {

void fill(AlignedBuffer* page, unsigned seed) {
  std::mt19937 engine(seed);
  for (size_t i = 0; i < kPage; ++i) page->data()[i] = static_cast<std::byte>(engine());
}

TEST(PageChecksum, EveryFlippedBitIsSeen) {
  AlignedBuffer page(kPage);
  fill(&page, 1);
  const uint64_t right = page_checksum(page.data(), 7);
  std::set<uint64_t> wrong;
  for (size_t bit = 0; bit < 8 * kPage; ++bit) {
    const auto flip = static_cast<std::byte>(1u << (bit % 8));
    page.data()[bit / 8] ^= flip;
    wrong.insert(page_checksum(page.data(), 7));
    page.data()[bit / 8] ^= flip;
  }
  EXPECT_EQ(wrong.size(), 8 * kPage);
  EXPECT_FALSE(wrong.contains(right));
  EXPECT_EQ(page_checksum(page.data(), 7), right);
}

TEST(PageChecksum, SwappedWordsAreSeen) {
  AlignedBuffer page(kPage);
  fill(&page, 2);
  const uint64_t right = page_checksum(page.data(), 0);
  for (size_t distance : {8u, 64u, 2048u}) {
    std::swap_ranges(page.data(), page.data() + 8, page.data() + distance);
    EXPECT_NE(page_checksum(page.data(), 0), right) << distance;
    std::swap_ranges(page.data(), page.data() + 8, page.data() + distance);
  }
}

TEST(PageChecksum, DependsOnThePlaceAndIsNeverZero) {
  AlignedBuffer page(kPage);
  std::fill_n(page.data(), kPage, std::byte{0});
  std::set<uint64_t> seen;
  for (uint64_t seed = 0; seed < 1000; ++seed) seen.insert(page_checksum(page.data(), seed));
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_FALSE(seen.contains(0));
}

}  // namespace
}  // namespace phi::memory
