// WindowOffsets against a list of all places.
#include "api/data/window_offsets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace phi::data {
namespace {

class Ends final : public DocumentEnds {
 public:
  explicit Ends(const std::vector<int64_t>& lengths) : ends_(lengths.size()) {
    std::partial_sum(lengths.begin(), lengths.end(), ends_.begin());
  }
  int64_t count() const override { return static_cast<int64_t>(ends_.size()); }
  void read(int64_t first, std::span<int64_t> ends) const override {
    ASSERT_LE(first + static_cast<int64_t>(ends.size()), count());
    std::copy_n(ends_.begin() + first, ends.size(), ends.begin());
  }

 private:
  std::vector<int64_t> ends_;
};

// Begins of all windows that lie within a document, in order.
std::vector<int64_t> all_begins(const std::vector<int64_t>& lengths, int64_t seq_len) {
  std::vector<int64_t> begins;
  int64_t first = 0;
  for (const int64_t length : lengths) {
    for (int64_t at = 0; at + seq_len < length; ++at) begins.push_back(first + at);
    first += length;
  }
  return begins;
}

std::vector<int64_t> begins_of(const WindowOffsets& places) {
  std::vector<int64_t> begins;
  for (int64_t place = 0; place < places.count(); ++place)
    begins.push_back(places.first_token_of(place));
  return begins;
}

TEST(WindowOffsets, OfJoinedDataAreAllThatHaveRoom) {
  EXPECT_EQ(begins_of(WindowOffsets(5, 3)), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(WindowOffsets(4, 3).count(), 1);
  EXPECT_EQ(WindowOffsets(3, 3).count(), 0);
  EXPECT_EQ(WindowOffsets(3, INT64_MAX).count(), 0);
}

TEST(WindowOffsets, OfDocumentsAreThoseThatCrossNoEnd) {
  const std::vector<int64_t> lengths = {5, 3, 0, 4, 1, 6};
  const WindowOffsets places(std::make_shared<Ends>(lengths), 3);
  EXPECT_EQ(begins_of(places), (std::vector<int64_t>{0, 1, 8, 13, 14, 15}));
  EXPECT_EQ(places.documents_left_out(), 3);
  EXPECT_EQ(places.longest_document(), 6);
  EXPECT_EQ(WindowOffsets(std::make_shared<Ends>(lengths), 6).count(), 0);
}

// More than one block of documents, of which some have no place at all.
TEST(WindowOffsets, OfManyDocumentsAreThoseOfAList) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<int64_t> lengths(400 + random() % 500);
    for (int64_t& length : lengths) length = static_cast<int64_t>(random() % 12);
    if (seed % 2) std::fill_n(lengths.begin() + 256, 144, 2);
    if (seed % 3 == 0) std::fill_n(lengths.begin(), 256, 0);
    for (const int64_t seq_len : {1, 4, 10}) {
      const WindowOffsets places(std::make_shared<Ends>(lengths), seq_len);
      EXPECT_EQ(begins_of(places), all_begins(lengths, seq_len));
      const auto left_out = std::count_if(lengths.begin(), lengths.end(),
                                          [&](int64_t length) { return length <= seq_len; });
      EXPECT_EQ(places.documents_left_out(), left_out);
    }
  }
}

}  // namespace
}  // namespace phi::data
