// The index: round trip, what other tools find in it, and hostile ones.
#include "distributed/checkpoint/format/index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "phi/common/errors.h"
#include "support/error_matchers.h"

namespace phi::distributed::checkpoint {
namespace {

Index example() {
  const TensorMeta w{Dims{4, 3}, DataType::BFLOAT16};
  return {
      "0123456789abcdef",
      {{"b", {Dims{}, DataType::INT64}, {{"f1", "b", Box::whole({})}}},
       {"w", w, {{"f1", "w[0:2,0:3]", {{0, 0}, {2, 3}}}, {"f2", "w[2:4,0:3]", {{2, 0}, {2, 3}}}}}}};
}

TEST(Index, ReadsBackWhatItWrote) {
  const Index index = example();
  const Index read = Index::decode(index.encode(), "index.json");
  EXPECT_EQ(read.save_id, index.save_id);
  ASSERT_EQ(read.tensors.size(), 2u);
  for (size_t t = 0; t < 2; ++t) {
    EXPECT_EQ(read.tensors[t].name, index.tensors[t].name);
    EXPECT_EQ(read.tensors[t].meta, index.tensors[t].meta);
    ASSERT_EQ(read.tensors[t].pieces.size(), index.tensors[t].pieces.size());
    for (size_t p = 0; p < read.tensors[t].pieces.size(); ++p) {
      EXPECT_EQ(read.tensors[t].pieces[p].file, index.tensors[t].pieces[p].file);
      EXPECT_EQ(read.tensors[t].pieces[p].name, index.tensors[t].pieces[p].name);
      EXPECT_EQ(read.tensors[t].pieces[p].box, index.tensors[t].pieces[p].box);
    }
  }
}

TEST(Index, OtherToolsFindAllThatIsInTheFiles) {
  const auto json = nlohmann::json::parse(example().encode());
  EXPECT_EQ(json["weight_map"],
            (nlohmann::json{{"b", "f1"}, {"w[0:2,0:3]", "f1"}, {"w[2:4,0:3]", "f2"}}));
  EXPECT_EQ(json["metadata"]["total_size"], 8 + 24);
}

TEST(Index, AWeightMapAloneIsRead) {
  const Index index = Index::decode(
      R"({"metadata": {"total_size": 8}, "weight_map": {"w": "f1", "v": "f2"}})", "index.json");
  ASSERT_EQ(index.tensors.size(), 2u);
  EXPECT_EQ(index.save_id, "");
  EXPECT_EQ(index.tensors[0].name, "v");
  EXPECT_EQ(index.tensors[0].pieces[0].file, "f2");
  EXPECT_EQ(index.tensors[0].meta.dtype, DataType::UNDEFINED);
}

struct GridCase {
  const char* what;
  Dims global;
  std::vector<Box> boxes;
  bool is_grid;
};

TEST(IsGrid, WantsEveryElementOnce) {
  const std::vector<GridCase> cases = {
      {"whole", {4, 3}, {Box::whole({4, 3})}, true},
      {"scalar", {}, {Box::whole({})}, true},
      {"nothing of a scalar", {}, {}, false},
      {"a scalar twice", {}, {Box::whole({}), Box::whole({})}, false},
      {"no elements", {0, 3}, {Box::whole({0, 3})}, true},
      {"rows", {4, 3}, {{{2, 0}, {2, 3}}, {{0, 0}, {2, 3}}}, true},
      {"2x2",
       {3, 3},
       {{{0, 0}, {2, 1}}, {{0, 1}, {2, 2}}, {{2, 0}, {1, 1}}, {{2, 1}, {1, 2}}},
       true},
      {"one of 2x2 missing", {3, 3}, {{{0, 0}, {2, 1}}, {{0, 1}, {2, 2}}, {{2, 0}, {1, 1}}}, false},
      {"one of 2x2 twice",
       {2, 2},
       {{{0, 0}, {1, 1}}, {{0, 1}, {1, 1}}, {{1, 0}, {1, 1}}, {{0, 1}, {1, 1}}},
       false},
      {"overlap", {4}, {{{0}, {3}}, {{2}, {2}}}, false},
      {"gap", {4}, {{{0}, {1}}, {{2}, {2}}}, false},
      {"short", {4}, {{{0}, {3}}}, false},
      {"beyond", {4}, {{{0}, {5}}}, false},
      {"beyond by overflow", {4}, {{{0}, {2}}, {{2}, {INT64_MAX}}}, false},
      {"other ndim", {4}, {{{0, 0}, {4, 1}}}, false},
      {"offset and size of other ndim", {4}, {{{0}, {4, 1}}}, false},
      {"pieces of a scalar with dims", {}, {{{0}, {1}}}, false},
      {"nothing", {4}, {}, false},
  };
  for (const GridCase& c : cases) EXPECT_EQ(is_grid(c.global, c.boxes), c.is_grid) << c.what;
}

struct Hostile {
  const char* what;
  std::string text;
  const char* message;
};

TEST(Index, HostileOnesAreRefusedByName) {
  const auto with = [](const std::string& tensor) {
    return R"({"metadata": {"save": "x"}, "tensors": {"w": )" + tensor + "}}";
  };
  const auto piece = [&](const std::string& fields) {
    return with(R"({"dtype": "F32", "shape": [4], "pieces": [{)" + fields + "}]}");
  };
  const std::vector<Hostile> cases = {
      {"no JSON", "hello", "is not valid JSON"},
      {"a list", "[]", "the index is not a JSON object"},
      {"neither", "{}", "the index has no 'weight_map'"},
      {"no metadata", R"({"tensors": {}})", "the index has no 'metadata'"},
      {"no save", R"({"tensors": {}, "metadata": {}})", "metadata has no 'save'"},
      {"tensors is a list", R"({"tensors": [], "metadata": {"save": "x"}})",
       "tensors is not a JSON object"},
      {"a name twice", R"({"tensors": {"w": 1, "w": 2}})", "the name 'w' is given twice"},
      {"unknown dtype", with(R"({"dtype": "X", "shape": [4], "pieces": []})"),
       "tensor 'w' has an unknown dtype"},
      {"overflow", with(R"({"dtype": "F32", "shape": [9223372036854775807, 4], "pieces": []})"),
       "too large a shape, [9223372036854775807,4]"},
      {"no pieces", with(R"({"dtype": "F32", "shape": [4], "pieces": []})"),
       "the 0 pieces of tensor 'w' do not cover each element of [4]"},
      {"piece without size", piece(R"("file": "f", "name": "w", "offset": [0])"),
       "a piece of tensor 'w' has no 'size'"},
      {"half", piece(R"("file": "f", "name": "w", "offset": [0], "size": [2])"),
       "the 1 pieces of tensor 'w' do not cover each element of [4]"},
      {"out of the folder", piece(R"("file": "../f", "name": "w", "offset": [0], "size": [4])"),
       "file '../f' of tensor 'w' is not the name of a file in the index's folder"},
      {"absolute", piece(R"("file": "/etc/f", "name": "w", "offset": [0], "size": [4])"),
       "file '/etc/f' of tensor 'w'"},
      {"parent", piece(R"("file": "..", "name": "w", "offset": [0], "size": [4])"),
       "file '..' of tensor 'w'"},
      {"weight_map out of the folder", R"({"weight_map": {"w": "../f"}})", "file '../f'"},
      {"weight_map to a number", R"({"weight_map": {"w": 3}})",
       "file of tensor 'w' is not a string"},
      {"half a checksum", R"({"weight_map": {}, "checksum": "04d2"})", "is not a checksum"},
      {"the checksum cut off", R"({"weight_map": {}, "block_bytes": 1048576})",
       "lacks its checksum"},
      {"short sums",
       piece(R"("file": "f", "name": "w", "offset": [0], "size": [4], "sums": "8d1f")"),
       "the sums of a piece of tensor 'w' are not 1 numbers of 16 digits"},
  };
  for (const Hostile& c : cases) {
    SCOPED_TRACE(c.what);
    EXPECT_THAT([&] { Index::decode(c.text, "dir/index.json"); },
                ThrowsError(ErrorCode::kInvalidArgument, c.message));
    EXPECT_THAT([&] { Index::decode(c.text, "dir/index.json"); },
                ThrowsError(ErrorCode::kInvalidArgument, "'dir/index.json'"));
  }
}

}  // namespace
}  // namespace phi::distributed::checkpoint
