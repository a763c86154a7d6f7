// The format: what is written reads back, and files that lie are refused with a word on where.
#include "distributed/checkpoint/format/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <limits>
#include <vector>

#include "distributed/checkpoint/temporary_folder.h"
#include "phi/common/errors.h"
#include "support/error_matchers.h"

namespace phi::distributed::checkpoint {
namespace {

std::string with_length(uint64_t length, const std::string& rest) {
  std::string out(8, '\0');
  std::memcpy(out.data(), &length, 8);
  return out + rest;
}

std::string file_of(const std::string& header, size_t data_bytes) {
  return with_length(header.size(), header + std::string(data_bytes, 'd'));
}

TEST(SafetensorsHeader, ReadsBackWhatItWrote) {
  SafetensorsHeader header;
  header.metadata = {{"format", "pt"}};
  header.tensors = {{"odd", {Dims{3}, DataType::UINT8}},
                    {"scalar", {Dims{}, DataType::FLOAT64}},
                    {"w\"\\ü", {Dims{2, 3}, DataType::BFLOAT16}},
                    {"none", {Dims{0, 4}, DataType::FLOAT32}}};
  header.lay_out();
  const std::string bytes = header.encode();
  EXPECT_EQ(bytes.size() % 8, 0u);
  EXPECT_EQ(header.data_bytes(), 3u + 8 + 12 + 0);
  const auto read = SafetensorsHeader::decode(bytes.substr(8), header.data_bytes(), "file");
  EXPECT_EQ(read.metadata, header.metadata);
  ASSERT_EQ(read.tensors.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const TensorEntry& entry = read.tensors[i];
    EXPECT_EQ(entry.begin % size_of(entry.meta.dtype), 0u) << entry.name;
    const auto same = [&](const TensorEntry& e) {
      return e.name == entry.name && e.meta == entry.meta && e.begin == entry.begin &&
             e.end == entry.end;
    };
    EXPECT_TRUE(std::ranges::any_of(header.tensors, same)) << entry.name;
  }
}

// Of this process, the least of three tries: other work of the machine counts little.
double seconds_of_decoding(int64_t tensors) {
  SafetensorsHeader header;
  for (int64_t i = 0; i < tensors; ++i) {
    header.tensors.push_back(
        {"layer" + std::to_string(i) + ".weight", {Dims{0}, DataType::FLOAT32}});
  }
  header.lay_out();
  const std::string text = header.encode().substr(8);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const std::clock_t start = std::clock();
    EXPECT_EQ(SafetensorsHeader::decode(text, 0, "file").tensors.size(), header.tensors.size());
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

TEST(SafetensorsHeader, TimeGrowsWithTheNumberOfTensorsAndNoFaster) {
  EXPECT_LT(seconds_of_decoding(16000), 20 * seconds_of_decoding(2000));
}

TEST(SafetensorsHeader, RefusesNamesThatTheFormatCannotHold) {
  const auto encode = [](std::vector<TensorEntry> tensors) {
    SafetensorsHeader header;
    header.tensors = std::move(tensors);
    header.lay_out();
    return header.encode();
  };
  const TensorMeta meta{Dims{1}, DataType::FLOAT32};
  EXPECT_THAT(
      [&] {
        encode({{"w", meta}, {"w", meta}});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "would be named 'w'"));
  EXPECT_THAT(
      [&] {
        encode({{"__metadata__", meta}});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "would be named '__metadata__'"));
  EXPECT_THAT(
      [&] {
        encode({{"\xff", meta}});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "name is not UTF-8"));
}

TEST(SafetensorsFile, GivesAnyBoxOfATensor) {
  const TemporaryFolder folder;
  SafetensorsHeader header;
  header.tensors = {{"w", {Dims{3, 4}, DataType::UINT8}}};
  header.lay_out();
  const auto file = SafetensorsFile::open(folder.write("a", header.encode() + "abcdefghijkl"));
  ASSERT_NE(file->find("w"), nullptr);
  EXPECT_EQ(file->find("v"), nullptr);
  std::string out(4, ' ');
  const Box region{{1, 1}, {2, 2}};
  file->read(*file->find("w"), Box::whole({3, 4}), region, out.data(), region);
  EXPECT_EQ(out, "fgjk");
}

TEST(SafetensorsFile, AFileCutShortAfterItWasOpenedIsAnError) {
  const TemporaryFolder folder;
  SafetensorsHeader header;
  header.tensors = {{"w", {Dims{1 << 16}, DataType::UINT8}}};
  header.lay_out();
  const auto path = folder.write("a", header.encode() + std::string(1 << 16, 'x'));
  const auto file = SafetensorsFile::open(path);
  std::filesystem::resize_file(path, 500);
  std::string out(1 << 16, ' ');
  const Box whole = Box::whole({1 << 16});
  EXPECT_THAT([&] { file->read(*file->find("w"), whole, whole, out.data(), whole); },
              ThrowsError(ErrorCode::kUnavailable, "has become shorter"));
}

struct Hostile {
  const char* what;
  std::string bytes;
  const char* message;
};

std::vector<Hostile> hostile_files() {
  const auto one = [](const std::string& entry, size_t data_bytes = 8) {
    return file_of("{\"w\": " + entry + "}", data_bytes);
  };
  const std::string f32 = R"("dtype": "F32", "shape": [2], "data_offsets": )";
  return {
      {"empty", "", "has 0 bytes, too few"},
      {"no room for the length", "1234567", "has 7 bytes, too few"},
      {"header beyond the file", with_length(100, "{}"),
       "a header of 100 bytes, but has 10 in all"},
      {"length near 2^64", with_length(~uint64_t{0}, "{}"),
       "a header of 18446744073709551615 bytes"},
      {"no header", with_length(0, ""), "is not valid JSON"},
      {"bad JSON", file_of("{\"w\": ", 0), "is not valid JSON"},
      {"trailing text", file_of("{} {}", 0), "is not valid JSON"},
      {"not UTF-8", file_of("{\"\xff\": 1}", 0), "is not valid JSON"},
      {"a list", file_of("[]", 0), "the header is not a JSON object"},
      {"nested", file_of(std::string(100'000, '[') + std::string(100'000, ']'), 0),
       "nested more than 32 deep"},
      {"a name given twice in an inner object",
       file_of(R"({"__metadata__": {"a": "1", "b": "2", "a": "3"}})", 0),
       "the name 'a' is given twice"},
      {"nested once too often", file_of(std::string(33, '[') + std::string(33, ']'), 0),
       "nested more than 32 deep"},
      {"a number too large", file_of("[[1, 2.5, -3, null, true], 1e999]", 0), "is not valid JSON"},
      {"entry is no object", one("3"), "tensor 'w' is not a JSON object"},
      {"no dtype", one(R"({"shape": [2], "data_offsets": [0, 8]})"), "tensor 'w' has no 'dtype'"},
      {"dtype is a number", one(R"({"dtype": 7, "shape": [2], "data_offsets": [0, 8]})"),
       "dtype of tensor 'w' is not a string"},
      {"unknown dtype", one(R"({"dtype": "F8_E4M3", "shape": [8], "data_offsets": [0, 8]})"),
       "tensor 'w' has dtype 'F8_E4M3', expected one of BOOL, U8"},
      {"empty dtype", one(R"({"dtype": "", "shape": [8], "data_offsets": [0, 8]})"),
       "tensor 'w' has dtype ''"},
      {"negative extent", one(R"({"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]})"),
       "shape of tensor 'w' is not a whole number from 0"},
      {"fractional extent", one(R"({"dtype": "F32", "shape": [2.0], "data_offsets": [0, 8]})"),
       "shape of tensor 'w' is not a whole number from 0"},
      {"extent of 2^64", one(R"({"dtype": "F32", "shape": [18446744073709551616]})"),
       "shape of tensor 'w' is not a whole number from 0"},
      {"extent of 2^63", one(R"({"dtype": "F32", "shape": [9223372036854775808]})"),
       "shape of tensor 'w' is not a whole number from 0"},
      {"too many tensor dims",
       one(R"({"dtype": "F32", "shape": [1,1,1,1,1,1,1,1,1,2], "data_offsets": [0, 8]})"),
       "shape of tensor 'w' is not a list of 9 numbers or fewer"},
      {"one offset", one("{" + f32 + "[8]}"),
       "data_offsets [8] of tensor 'w' are not [begin, end]"},
      {"offsets the wrong way", one("{" + f32 + "[8, 0]}"), "are not [begin, end]"},
      {"beyond the data", one("{" + f32 + "[8, 16]}"),
       "tensor 'w' ends at byte 16, but the file has 8 bytes of data"},
      {"more elements than bytes", one("{" + f32 + "[0, 4]}"),
       "tensor 'w' is f32[2], which does not match its 4 bytes"},
      {"product overflows to the right size",
       one(R"({"dtype": "F32", "shape": [4611686018427387904, 4], "data_offsets": [0, 0]})"),
       "tensor 'w' is f32[4611686018427387904,4], which does not match its 0 bytes"},
      {"overlap", file_of("{\"a\": {" + f32 + "[0, 8]}, \"b\": {" + f32 + "[4, 12]}}", 12),
       "tensors 'a' and 'b' overlap at byte 4"},
      {"the same bytes twice",
       file_of("{\"a\": {" + f32 + "[0, 8]}, \"b\": {" + f32 + "[0, 8]}}", 8),
       "tensors 'a' and 'b' overlap at byte 0"},
      {"a hole", file_of("{\"a\": {" + f32 + "[4, 12]}}", 12),
       "the bytes [0, 4) before tensor 'a' belong to no tensor"},
      {"bytes after", one("{" + f32 + "[0, 8]}", 12), "the last 4 bytes belong to no tensor"},
      {"a name twice", file_of("{\"w\": {" + f32 + "[0, 8]}, \"w\": {" + f32 + "[8, 16]}}", 16),
       "the name 'w' is given twice"},
      {"metadata that is no text", file_of(R"({"__metadata__": {"k": 1}})", 0),
       "__metadata__ 'k' is not a string"},
      {"metadata that is no object", file_of(R"({"__metadata__": "k"})", 0),
       "__metadata__ is not a JSON object"},
  };
}

TEST(SafetensorsFile, HostileFilesAreRefusedByName) {
  const TemporaryFolder folder;
  for (const Hostile& hostile : hostile_files()) {
    SCOPED_TRACE(hostile.what);
    const auto path = folder.write("hostile.safetensors", hostile.bytes);
    EXPECT_THAT([&] { SafetensorsFile::open(path); },
                ThrowsError(ErrorCode::kInvalidArgument, hostile.message));
    EXPECT_THAT([&] { SafetensorsFile::open(path); },
                ThrowsError(ErrorCode::kInvalidArgument, "'" + path + "'"));
  }
}

SafetensorsHeader small_header() {
  SafetensorsHeader header;
  header.metadata = {{"k", "v"}};
  header.tensors = {{"a", {Dims{2}, DataType::FLOAT32}}, {"b", {Dims{3}, DataType::UINT8}}};
  header.lay_out();
  return header;
}

TEST(SafetensorsFile, NoPrefixOfAFileOpens) {
  const TemporaryFolder folder;
  const std::string good = small_header().encode() + "data of 11";
  for (size_t n = 0; n <= good.size(); ++n) {
    const auto path = folder.write("prefix", good.substr(0, n));
    EXPECT_THAT([&] { SafetensorsFile::open(path); },
                ThrowsError(ErrorCode::kInvalidArgument, path))
        << n;
  }
  SafetensorsFile::open(folder.write("whole", good + "!"));
}

// A change of any byte of the header reads or is an error: nothing else may happen.
TEST(SafetensorsHeader, ADamagedOneNeverCrashes) {
  const SafetensorsHeader header = small_header();
  const std::string good = header.encode().substr(8);
  int refused = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    for (int c = 0; c < 256; ++c) {
      std::string text = good;
      text[i] = static_cast<char>(c);
      try {
        SafetensorsHeader::decode(text, header.data_bytes(), "file");
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, static_cast<int>(good.size()) * 100);
}

}  // namespace
}  // namespace phi::distributed::checkpoint
