// MegatronIndex: what it reads, and that nothing wrong in a file is believed.
#include "api/data/megatron_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>
#include <functional>
#include <random>

#include "support/error_matchers.h"
#include "tests/api/data/data_files.h"

namespace phi::data {
namespace {

using Documents = std::vector<std::vector<int32_t>>;

// Two sequences; none; an empty one and one of four tokens.
const Documents kThree = {{3, 2}, {}, {0, 4}};
constexpr int64_t kTokens = 9;

class MegatronIndexTest : public ::testing::Test {
 protected:
  std::shared_ptr<const MegatronIndex> open(const std::string& bytes,
                                            int64_t bin_bytes = 2 * kTokens) const {
    return MegatronIndex::open(folder_.write("set.idx", bytes), bin_bytes);
  }
  static std::vector<int64_t> ends(const MegatronIndex& index, int64_t first, size_t count) {
    std::vector<int64_t> out(count);
    index.document_ends(first, out);
    return out;
  }
  const DataFolder folder_;
};

TEST_F(MegatronIndexTest, DocumentsEndWhereTheirSequencesDo) {
  const auto index = open(index_fields(kThree).bytes());
  EXPECT_EQ(index->type(), TokenType::kUint16);
  EXPECT_EQ(index->num_sequences(), 4);
  EXPECT_EQ(index->num_documents(), 3);
  EXPECT_EQ(index->num_tokens(), kTokens);
  EXPECT_EQ(ends(*index, 0, 3), (std::vector<int64_t>{5, 5, 9}));
  EXPECT_EQ(ends(*index, 1, 1), (std::vector<int64_t>{5}));
  index->check_entries();
}

TEST_F(MegatronIndexTest, EachCodeIsItsDtype) {
  const std::vector<std::tuple<uint8_t, int64_t, TokenType>> codes = {
      {1, 1, TokenType::kUint8}, {2, 1, TokenType::kInt8},  {3, 2, TokenType::kInt16},
      {4, 4, TokenType::kInt32}, {5, 8, TokenType::kInt64}, {8, 2, TokenType::kUint16}};
  for (const auto& [code, item, type] : codes) {
    const auto index = open(index_fields(kThree, code, item).bytes(), kTokens * item);
    EXPECT_EQ(index->type(), type) << int{code};
    EXPECT_EQ(ends(*index, 0, 3), (std::vector<int64_t>{5, 5, 9})) << int{code};
  }
}

TEST_F(MegatronIndexTest, WhatIsWrongIsSaid) {
  struct Case {
    std::function<void(IndexFields*)> spoil;
    const char* words;
  };
  const std::vector<Case> cases = {
      {[](IndexFields* f) { f->magic[0] = 'T'; },
       "set.idx' is not an index of Megatron-LM: it does not"},
      {[](IndexFields* f) { f->magic[8] = '\1'; }, "does not begin with MMIDIDX; pass the prefix"},
      {[](IndexFields* f) { f->version = 2; },
       "set.idx' is of version 2 of the format; only version 1"},
      {[](IndexFields* f) { f->code = 0; }, "has dtype code 0; ids are of codes 1 (uint8)"},
      {[](IndexFields* f) { f->code = 9; }, "has dtype code 9; ids are"},
      {[](IndexFields* f) { f->code = 6; }, "has dtype code 6, a float; ids are"},
      {[](IndexFields* f) { f->code = 7; }, "has dtype code 7, a float; ids are"},
      {[](IndexFields* f) { f->code = 4; }, "does not match its .bin, which has 18 bytes"},
      {[](IndexFields* f) { f->num_sequences = 5; },
       "do not match its counts of 5 sequences and 4 ends of documents; it is truncated or "
       "damaged"},
      {[](IndexFields* f) { f->num_sequences = 3; }, "do not match its counts of 3 sequences"},
      {[](IndexFields* f) { f->num_sequences = UINT64_MAX; }, "counts of 18446744073709551615 seq"},
      {[](IndexFields* f) { f->num_sequences = (UINT64_MAX - 33) / 12 + 1; },
       "do not match its counts"},
      // Times 12, or 8, these are what they should be, cut to 64 bits.
      {[](IndexFields* f) { f->num_sequences += uint64_t{1} << 62; }, "do not match its counts"},
      {[](IndexFields* f) { f->num_entries += uint64_t{1} << 61; }, "do not match its counts"},
      {[](IndexFields* f) { f->num_entries = 5; }, "and 5 ends of documents"},
      {[](IndexFields* f) { f->num_entries = uint64_t{1} << 61; }, "2305843009213693952 ends"},
      {[](IndexFields* f) { f->rest = "x"; }, "has 115 bytes, which do not match its counts"},
      {[](IndexFields* f) { f->rest = std::string(4, '\0'); }, "multimodal data is not supported"},
      {[](IndexFields* f) { *f = index_fields({}); }, "has no sequences, so there is nothing"},
      {[](IndexFields* f) {
         f->documents = {0};
         f->num_entries = 1;
       },
       "has no documents, so there is nothing"},
      {[](IndexFields* f) { f->pointers[0] = 2; }, "its first sequence begins at byte 2, and"},
      {[](IndexFields* f) { f->pointers[3] = -8; },
       "4 tokens of uint16 from byte -8 on. It is the"},
      {[](IndexFields* f) { f->pointers[3] = INT64_MIN; }, "from byte -9223372036854775808 on"},
      {[](IndexFields* f) { f->pointers[3] = INT64_MAX; }, "from byte 9223372036854775807 on"},
      {[](IndexFields* f) { f->lengths[3] = 3; },
       "is the index of another data set, or the .bin is"},
      {[](IndexFields* f) { f->lengths[3] = -4; }, "its last one is -4 tokens of uint16"},
      {[](IndexFields* f) { f->lengths[3] = INT32_MAX; }, "is 2147483647 tokens of uint16"},
      {[](IndexFields* f) { f->documents[0] = 1; },
       "documents of sequences 1 to 4, but sequences 0"},
      {[](IndexFields* f) { f->documents[3] = 3; },
       "documents of sequences 0 to 3, but sequences 0"},
      // Inside, seen by check_entries alone.
      {[](IndexFields* f) { f->lengths[1] = 3; },
       "sequence 2 has 0 tokens from byte 10 of the .bin on, but the previous sequences end at "
       "byte 12"},
      {[](IndexFields* f) { f->lengths[1] = -2; }, "sequence 1 has -2 tokens from byte 6"},
      {[](IndexFields* f) { f->pointers[2] = 8; }, "sequence 2 has 0 tokens from byte 8"},
      {[](IndexFields* f) { f->documents[1] = 3; },
       "document 1 ends before sequence 2, but begins at sequence 3, of 4"},
      {[](IndexFields* f) { f->documents[2] = -1; }, "document 1 ends before sequence -1"},
      {[](IndexFields* f) { f->documents[2] = 5; }, "document 1 ends before sequence 5"},
  };
  for (const Case& each : cases) {
    IndexFields fields = index_fields(kThree);
    each.spoil(&fields);
    EXPECT_THAT([&] { open(fields.bytes())->check_entries(); },
                ThrowsError(ErrorCode::kInvalidArgument, each.words));
  }
}

TEST_F(MegatronIndexTest, AnyByteCutOffOrBinOfAnotherSizeIsAnError) {
  const std::string whole = index_fields(kThree).bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT([&] { open(whole.substr(0, size)); },
                ThrowsError(ErrorCode::kInvalidArgument, "set.idx'"))
        << size;
  }
  for (const int64_t bytes : {0, 1, 17, 19, 20, 36}) {
    EXPECT_THAT([&] { open(whole, bytes); },
                ThrowsError(ErrorCode::kInvalidArgument, "does not match its .bin, which has"))
        << bytes;
  }
  EXPECT_THAT([&] { MegatronIndex::open(folder_.file("none.idx"), 18); },
              ThrowsError(ErrorCode::kNotFound, "none.idx'"));
}

// Any byte of an index may be any: what is not refused ends its documents within the data, in
// order.
TEST_F(MegatronIndexTest, DamagedBytesAreRefusedOrHarmless) {
  const uint64_t seed = 20261;
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const std::string whole = index_fields(kThree).bytes();
  int refused = 0;
  for (int turn = 0; turn < 400; ++turn) {
    std::string bytes = whole;
    for (uint64_t flips = 1 + random() % 3; flips > 0; --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random() % 4 == 0 ? 255 : random());
    }
    try {
      const auto index = open(bytes);
      index->check_entries();
      const auto all = ends(*index, 0, static_cast<size_t>(index->num_documents()));
      EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
      EXPECT_EQ(all.back(), index->num_tokens());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 250);
}

TEST_F(MegatronIndexTest, WhatChangesAfterItWasCheckedIsAnError) {
  IndexFields fields = index_fields(kThree);
  const auto index = open(fields.bytes());
  index->check_entries();
  fields.documents[1] = INT64_MAX;
  folder_.write("set.idx", fields.bytes());
  EXPECT_THAT([&] { ends(*index, 0, 1); },
              ThrowsError(ErrorCode::kUnavailable, "has changed since it was opened"));
  fields.documents[1] = 2;
  fields.pointers[2] = -1;
  folder_.write("set.idx", fields.bytes());
  EXPECT_THAT([&] { ends(*index, 0, 1); },
              ThrowsError(ErrorCode::kUnavailable, "has changed since it was opened"));
}

}  // namespace
}  // namespace phi::data
