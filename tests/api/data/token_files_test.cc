// TokenFiles: ids of each kind of file, and what is said of files that are not what they should be.
#include "api/data/token_files.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "support/error_matchers.h"
#include "tests/api/data/data_files.h"

namespace phi::data {
namespace {

using Ids = std::vector<int64_t>;

class TokenFilesTest : public ::testing::Test {
 protected:
  DataOptions tokens(const std::vector<std::string>& paths,
                     TokenType type = TokenType::kUint16) const {
    return {.kind = DataKind::kTokens, .paths = paths, .dtype = type};
  }
  static Ids all(const TokenFiles& files) {
    Ids ids(static_cast<size_t>(files.num_tokens()));
    files.read(0, ids);
    return ids;
  }
  template <typename T>
  void expect_extremes(TokenType type) const {
    SCOPED_TRACE(name_of(type));
    constexpr auto kLargest = std::numeric_limits<T>::max();
    const auto files =
        TokenFiles::open(tokens({folder_.write_ids<T>("x.bin", {1, kLargest, 0})}, type));
    EXPECT_EQ(files->num_bytes(), 3 * size_of(type));
    EXPECT_EQ(all(*files), (Ids{1, static_cast<int64_t>(kLargest), 0}));
    EXPECT_EQ(parse_token_type(name_of(type)), type);
  }
  void expect_wrong(const DataOptions& options, const std::string& words,
                    ErrorCode code = ErrorCode::kInvalidArgument) const {
    EXPECT_THAT([&] { TokenFiles::open(options); }, ThrowsError(code, words));
  }

  const DataFolder folder_;
};

TEST_F(TokenFilesTest, EachDtypeIsReadUpToItsLargestId) {
  expect_extremes<uint8_t>(TokenType::kUint8);
  expect_extremes<int8_t>(TokenType::kInt8);
  expect_extremes<uint16_t>(TokenType::kUint16);
  expect_extremes<int16_t>(TokenType::kInt16);
  expect_extremes<uint32_t>(TokenType::kUint32);
  expect_extremes<int32_t>(TokenType::kInt32);
  const auto files = TokenFiles::open(
      tokens({folder_.write_ids<int64_t>("x.bin", {int64_t{1} << 40})}, TokenType::kInt64));
  EXPECT_EQ(all(*files), Ids{int64_t{1} << 40});
}

TEST_F(TokenFilesTest, FilesFollowEachOther) {
  folder_.write_ids<uint16_t>("a.bin", {1, 2, 3});
  folder_.write_ids<uint16_t>("b.bin", {40000, 5});
  DataOptions options = tokens({"b.bin", "a.bin"});
  options.base = folder_.path();
  const auto files = TokenFiles::open(options);
  EXPECT_EQ(files->num_files(), 2);
  EXPECT_EQ(all(*files), (Ids{40000, 5, 1, 2, 3}));
  Ids part(2);
  files->read(1, part);
  EXPECT_EQ(part, (Ids{5, 1}));
  EXPECT_THAT([&] { files->read(4, part); },
              ThrowsError(ErrorCode::kOutOfRange,
                          "2 tokens from token 4 on are requested from data of 5 tokens."));
  EXPECT_THAT([&] { files->read(INT64_MAX, part); },
              ThrowsError(ErrorCode::kOutOfRange, "data of 5 tokens."));
}

TEST_F(TokenFilesTest, AMegatronSetHasThreeNames) {
  const std::string prefix = folder_.write_megatron("set", {{2, 1}, {3}});
  for (const char* end : {"", ".bin", ".idx"}) {
    const auto files = TokenFiles::open({.kind = DataKind::kMegatron, .paths = {prefix + end}});
    EXPECT_EQ(all(*files), (Ids{0, 1, 2, 3, 4, 5})) << end;
    EXPECT_EQ(files->num_documents(), 2);
    EXPECT_EQ(files->type(), TokenType::kUint16);
  }
}

TEST_F(TokenFilesTest, MegatronSetsFollowEachOther) {
  DataOptions options{.kind = DataKind::kMegatron,
                      .paths = {folder_.write_megatron("one", {{4}, {1, 1}, {5}}),
                                folder_.write_megatron("two", {{}, {2}, {4}}, 100)},
                      .documents = Documents::kApart};
  const auto files = TokenFiles::open(options);
  EXPECT_EQ(files->num_documents(), 6);
  const auto window_offsets = files->window_offsets(3);
  Ids begins;
  for (int64_t place = 0; place < window_offsets->count(); ++place) {
    begins.push_back(window_offsets->first_token_of(place));
  }
  EXPECT_EQ(begins, (Ids{0, 6, 7, 13}));
  EXPECT_EQ(
      files->summary(3).to_string(),
      "17 tokens (uint16) of 2 files · 6 separate documents, 3 of them too short and left out");
}

TEST_F(TokenFilesTest, FilesOfTextAreDocuments) {
  folder_.write("text/a", "abcdef");
  folder_.write("text/b", "gh");
  DataOptions options{.paths = {folder_.file("text")}, .documents = Documents::kApart};
  const auto files = TokenFiles::open(options);
  const auto window_offsets = files->window_offsets(4);
  EXPECT_EQ(window_offsets->count(), 2);
  EXPECT_EQ(window_offsets->first_token_of(1), 1);
  EXPECT_EQ(files->summary(4).to_string(),
            "text 8 B of 2 files · 2 separate documents, 1 of them too short and left out");
  EXPECT_THAT([&] { files->window_offsets(6); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "none of 2 documents is long enough for a window of seq_len 6 + 1: the "
                          "longest has 6 tokens. Use a smaller seq_len, or documents: joined."));
}

TEST_F(TokenFilesTest, ASummarySaysWhatTheDataIs) {
  folder_.write("text/a", std::string(1536, 'x'));
  EXPECT_EQ(TokenFiles::open({.paths = {folder_.file("text")}})->summary(4).to_string(),
            "text 1.5 KiB of 1 files");
  const auto path = folder_.write_ids("x.bin", std::vector<uint32_t>(1500, 7));
  EXPECT_EQ(TokenFiles::open(tokens({path}, TokenType::kUint32))->summary(4).to_string(),
            "1.5k tokens (uint32) of 1 file");
  EXPECT_EQ(TokenFiles::open(tokens({path, path}))->summary(4).to_string(),
            "6.0k tokens (uint16) of 2 files");
}

TEST_F(TokenFilesTest, AnIdBeyondTheVocabularyIsNamedWithItsPlace) {
  folder_.write_ids<uint16_t>("a.bin", {1, 2, 3});
  folder_.write_ids<uint16_t>("b.bin", {4, 99, 100, 60000});
  DataOptions options = tokens({folder_.file("a.bin"), folder_.file("b.bin")});
  options.vocab = 100;
  const auto files = TokenFiles::open(options);
  Ids ids(5);
  files->read(0, ids);
  EXPECT_EQ(ids, (Ids{1, 2, 3, 4, 99}));
  EXPECT_THAT(
      [&] { files->read(1, ids); },
      ThrowsError(
          ErrorCode::kInvalidArgument,
          "token 2 of '" + folder_.file("b.bin") +
              "' (byte offset 4) is the id 100, which is outside a vocab of 100: ids are 0 to 99. "
              "Use a larger vocab, or correct the data (its ids were read as uint16)."));
  const auto path = folder_.write_ids<int32_t>("c.bin", {0, -1});
  EXPECT_THAT([&] { all(*TokenFiles::open(tokens({path}, TokenType::kInt32))); },
              ThrowsError(ErrorCode::kInvalidArgument, "(byte offset 4) is the id -1, which"));
}

TEST_F(TokenFilesTest, TheRangeOfIdsIsFoundWithItsPlaces) {
  std::vector<uint16_t> ids(200'000, 500);
  ids[150'001] = 3;
  const auto a = folder_.write_ids("a.bin", ids);
  const auto b = folder_.write_ids<uint16_t>("b.bin", {600, 65535});
  const auto range = TokenFiles::open(tokens({a, b}))->id_range();
  EXPECT_EQ(range.smallest, 3);
  EXPECT_EQ(range.where_smallest, "token 150001 of '" + a + "' (byte offset 300002)");
  EXPECT_EQ(range.largest, 65535);
  EXPECT_EQ(range.where_largest, "token 1 of '" + b + "' (byte offset 2)");
}

TEST_F(TokenFilesTest, OfEqualIdsTheRangeNamesTheFirst) {
  const auto a = folder_.write_ids<uint16_t>("a.bin", {7, 9, 5, 9, 5});
  const auto b = folder_.write_ids<uint16_t>("b.bin", {9, 5});
  const auto range = TokenFiles::open(tokens({a, b}))->id_range();
  EXPECT_EQ(range.where_smallest, "token 2 of '" + a + "' (byte offset 4)");
  EXPECT_EQ(range.where_largest, "token 3 of '" + a + "' (byte offset 6)");
}

TEST_F(TokenFilesTest, WindowsMustHaveRoom) {
  const auto files = TokenFiles::open(tokens({folder_.write_ids<uint16_t>("x.bin", {1, 2, 3})}));
  EXPECT_EQ(files->window_offsets(2)->count(), 1);
  EXPECT_EQ(files->window_offsets(2), files->window_offsets(2));
  EXPECT_THAT([&] { files->window_offsets(3); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "3 tokens are too few for windows of seq_len 3 + 1."));
  EXPECT_THAT([&] { files->window_offsets(0); },
              ThrowsError(ErrorCode::kInvalidArgument, "windows of 0 tokens; seq_len must be 1"));
}

TEST_F(TokenFilesTest, FilesThatAreNotIdsAloneAreRefused) {
  const auto refused = [&](std::string_view bytes, const char* words,
                           TokenType type = TokenType::kUint16) {
    expect_wrong(tokens({folder_.write("x.bin", bytes)}, type), words);
  };
  refused("", "x.bin' is empty.");
  refused("abc", "x.bin' has 3 bytes, which is not a multiple of uint16 ids of 2 bytes; set the");
  refused("abcdef", "not a multiple of int32 ids of 4 bytes", TokenType::kInt32);
  refused("\x93NUMPY\1\0 ...",
          "x.bin' does not contain only ids: it is a NumPy array with a header");
  refused(index_fields({{1}}).bytes(), "it is an index of Megatron-LM; use kind megatron");
  const std::string ids = "\x01\x02\x03\x04\x05\x06\x07\x08";
  refused(bytes_of<int32_t>({20240520, 1}) + ids, "a file of llm.c with a header of 1024 bytes");
  refused(bytes_of<int32_t>({20240801, 7}) + ids, "a file of llm.c with a header of 1024 bytes");
  expect_wrong(tokens({folder_.path()}), "is a folder; list its files of token ids, in order.");
  expect_wrong(tokens({}), "data of kind tokens needs a path.");
  expect_wrong(tokens({"nowhere.bin"}), "no file or folder 'nowhere.bin'", ErrorCode::kNotFound);
}

TEST_F(TokenFilesTest, DocumentsOfFlatFilesCannotBeKeptApart) {
  DataOptions options = tokens({folder_.write_ids<uint16_t>("x.bin", {1, 2, 3})});
  options.documents = Documents::kApart;
  expect_wrong(options, "documents cannot be separated in data of kind tokens: its files");
}

TEST_F(TokenFilesTest, SetsThatAreNotWholeAreRefused) {
  const auto open = [&](const std::vector<std::string>& paths,
                        Documents documents = Documents::kJoined) {
    return DataOptions{.kind = DataKind::kMegatron, .paths = paths, .documents = documents};
  };
  const std::string set = folder_.write_megatron("set", {{2, 1}, {3}});
  folder_.write_ids<uint16_t>("alone.bin", {1, 2});
  expect_wrong(open({folder_.file("alone.bin")}), "alone.idx'.", ErrorCode::kNotFound);
  folder_.write("without.idx", index_fields({{1}}).bytes());
  expect_wrong(open({folder_.file("without")}), "without.idx' has no data: there is no",
               ErrorCode::kNotFound);
  folder_.write("of_another.idx", index_fields({{1, 3}, {3}}).bytes());
  folder_.write_ids("of_another.bin", std::vector<uint16_t>(6));
  expect_wrong(open({folder_.file("of_another")}), "is the index of another data set, or the .bin");
  folder_.write("inside.idx", index_fields({{2, 2}, {2}}).bytes());
  folder_.write_ids("inside.bin", std::vector<uint16_t>(6));
  IndexFields fields = index_fields({{2, 2}, {2}});
  fields.lengths[0] = 1;
  folder_.write("inside.idx", fields.bytes());
  expect_wrong(open({folder_.file("inside")}, Documents::kApart), "inside.idx' is damaged");
  folder_.write("wide.idx", index_fields({{3}}, 4, 4).bytes());
  folder_.write_ids("wide.bin", std::vector<int32_t>(3));
  expect_wrong(open({set, folder_.file("wide")}), "has ids of uint16 and '");
}

TEST_F(TokenFilesTest, NamesOfKindsThatDoNotExistAreAnsweredWithThoseThatDo) {
  EXPECT_EQ(parse_data_kind("megatron"), DataKind::kMegatron);
  EXPECT_EQ(parse_documents("apart"), Documents::kApart);
  EXPECT_THAT([] { parse_data_kind("text"); },
              ThrowsError(ErrorCode::kInvalidArgument, "'text' is not a kind of data; use bytes,"));
  EXPECT_THAT([] { parse_documents("split"); },
              ThrowsError(ErrorCode::kInvalidArgument, "documents cannot be 'split'; use joined"));
  EXPECT_THAT([] { parse_token_type("uint64"); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "'uint64' is not a dtype of token ids; use one of uint8, int8, uint16,"));
}

// Data of which one thing at a time is otherwise.
TEST_F(TokenFilesTest, TheFingerprintSeesChanges) {
  using Paths = std::vector<std::string>;
  int folders = 0;
  const auto text = [&](const std::vector<std::pair<std::string, std::string>>& files) {
    const std::string folder = fmt::format("text{}/", folders++);
    DataOptions options;
    for (const auto& [name, bytes] : files)
      options.paths.push_back(folder_.write(folder + name, bytes));
    return options;
  };
  const auto ids = [&](const Paths& names, TokenType type = TokenType::kUint16) {
    Paths paths;
    for (const std::string& name : names) {
      const auto count = static_cast<uint32_t>(name.size());
      paths.push_back(folder_.write_ids<uint32_t>(name, std::vector<uint32_t>(count, 1)));
    }
    return tokens(paths, type);
  };
  const auto megatron = [&](const std::vector<std::vector<int32_t>>& documents) {
    const std::string prefix = folder_.write_megatron(fmt::format("set{}/x", folders++), documents);
    return DataOptions{.kind = DataKind::kMegatron, .paths = {prefix}};
  };
  struct Row {
    const char* what;
    DataOptions one, other;
    bool differs = true;
  };
  const std::vector<Row> rows = {
      {"nothing", text({{"a", "abc"}}), text({{"a", "abc"}}), false},
      {"bytes of the same size", text({{"a", "abc"}}), text({{"a", "abd"}}), false},
      {"a size", text({{"a", "abc"}}), text({{"a", "abcd"}})},
      {"the size of a later file", text({{"a", "x"}, {"b", "x"}}), text({{"a", "x"}, {"b", "xx"}})},
      {"where a file ends", text({{"a", "xx"}, {"b", "x"}}), text({{"a", "x"}, {"b", "xx"}})},
      {"a name", text({{"a", "abc"}}), text({{"b", "abc"}})},
      {"a file more", text({{"a", "abc"}}), text({{"a", "abc"}, {"b", "more"}})},
      {"the order", text({{"a", "xx"}, {"b", "xx"}}), text({{"b", "xx"}, {"a", "xx"}})},
      {"the order of ids", ids({"x.bin", "y.bin"}), ids({"y.bin", "x.bin"})},
      {"a dtype", ids({"x.bin"}), ids({"x.bin"}, TokenType::kUint32)},
      {"a dtype of the same size", ids({"x.bin"}), ids({"x.bin"}, TokenType::kInt16)},
      {"the kind", ids({"x.bin"}), {.paths = {folder_.file("x.bin")}}},
      {"where a document ends", megatron({{2, 2}}), megatron({{2}, {2}})}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    EXPECT_EQ(
        TokenFiles::open(row.one)->fingerprint() != TokenFiles::open(row.other)->fingerprint(),
        row.differs);
  }
}

TEST_F(TokenFilesTest, TheFingerprintOfContentSeesOtherBytesOfTheSameSize) {
  const auto of = [](const DataOptions& options) {
    return TokenFiles::open(options)->content_fingerprint();
  };
  const auto path = folder_.write_ids<uint16_t>("x.bin", {1, 2, 3});
  const uint64_t before = of(tokens({path}));
  EXPECT_EQ(of(tokens({path})), before);
  EXPECT_NE(of(tokens({path}, TokenType::kInt16)), before);
  const uint64_t names = TokenFiles::open(tokens({path}))->fingerprint();
  folder_.write_ids<uint16_t>("x.bin", {1, 2, 4});
  EXPECT_NE(of(tokens({path})), before);
  EXPECT_EQ(TokenFiles::open(tokens({path}))->fingerprint(), names);

  // Of Megatron-LM's pairs both files.
  const auto prefix = folder_.write_megatron("set", {{2, 3}, {1}});
  const DataOptions set{.kind = DataKind::kMegatron, .paths = {prefix}};
  const uint64_t pair = of(set);
  folder_.write_megatron("set", {{3, 2}, {1}});
  EXPECT_NE(of(set), pair);
}

}  // namespace
}  // namespace phi::data
