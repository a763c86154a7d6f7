// Files that are not as they were saved: whatever a disk does to them, no value that is read is
// wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "distributed/checkpoint/checkpoint.h"
#include "distributed/checkpoint/format/index.h"
#include "distributed/checkpoint/format/json.h"
#include "distributed/checkpoint/format/safetensors.h"
#include "distributed/checkpoint/storage/checksum.h"
#include "distributed/checkpoint/verify.h"
#include "phi/common/errors.h"
#include "support/error_matchers.h"
#include "temporary_folder.h"
#include "tensor_files.h"

namespace phi::distributed::checkpoint {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kBlockRows = 1024;  // rows of "w" in a block
constexpr int64_t kColumns = 256;

std::vector<NamedTensor> tensors() {
  return {random_bits("w", {Dims{5 * kBlockRows / 2, kColumns}, DataType::FLOAT32}, 1),
          random_bits("v", {Dims{7}, DataType::FLOAT32}, 2),
          random_bits("u", {Dims{7}, DataType::FLOAT32}, 3),
          random_bits("none", {Dims{0, 2}, DataType::FLOAT32}, 4)};
}

std::string text_of(const fs::path& path) { return read_text(path.string()); }

// Where the bytes of a tensor begin in the file.
size_t begin_of(const TemporaryFolder& folder, const std::string& name) {
  const std::string path = (folder / kSingleFile).string();
  const auto file = SafetensorsFile::open(path);
  return fs::file_size(path) - file->header().data_bytes() + file->find(name)->begin;
}

struct DamageCase {
  const char* what;
  std::function<void(std::string* file)> damage;
  std::vector<std::string> damaged;  // tensors that cannot be read; all others can
  std::string fault;
};

TEST(DamagedFile, NoWrongValueIsRead) {
  const TemporaryFolder folder;
  save(folder.path(), tensors());
  const std::string good = text_of(folder / kSingleFile);
  const size_t w = begin_of(folder, "w");
  const size_t u = begin_of(folder, "u");
  const size_t v = begin_of(folder, "v");
  const auto exchange_in_header = [](const std::string& a, const std::string& b) {
    return [=](std::string* file) {
      const size_t at = file->find(a);
      ASSERT_NE(at, std::string::npos);
      file->replace(at, a.size(), b);
    };
  };
  const std::string offsets_u = fmt::format("[{},{}]", u - std::min(u, v), u - std::min(u, v) + 28);
  const std::string offsets_v = fmt::format("[{},{}]", v - std::min(u, v), v - std::min(u, v) + 28);
  const std::vector<DamageCase> cases = {
      {"a bit of the first block",
       [=](std::string* f) { (*f)[w] ^= 1; },
       {"w"},
       "tensor 'w' in block 1 of 3"},
      {"a bit of the last byte of the last block",
       [=](std::string* f) { (*f)[w + size_t{5} * (kBlockBytes / 2) - 1] ^= 64; },
       {"w"},
       "tensor 'w' in block 3 of 3 ('w', bytes 2097152 to 2621440)"},
      {"a page of zeros",
       [=](std::string* f) { f->replace(w + kBlockBytes + 4096, 4096, std::string(4096, '\0')); },
       {"w"},
       "block 2 of 3"},
      {"zeros at the end",
       [](std::string* f) { f->replace(f->size() - 8, 8, std::string(8, '\0')); },
       {"w"},
       "tensor 'w' in block 3"},
      {"two pages exchanged",
       [=](std::string* f) {
         const std::string page = f->substr(w, 4096);
         f->replace(w, 4096, f->substr(w + 8192, 4096)).replace(w + 8192, 4096, page);
       },
       {"w"},
       "block 1"},
      {"two blocks exchanged",
       [=](std::string* f) {
         const std::string block = f->substr(w, kBlockBytes);
         f->replace(w, kBlockBytes, f->substr(w + kBlockBytes, kBlockBytes));
         f->replace(w + kBlockBytes, kBlockBytes, block);
       },
       {"w"},
       "block 1"},
      {"the bytes of two tensors exchanged",
       [=](std::string* f) {
         const std::string bytes = f->substr(u, 28);
         f->replace(u, 28, f->substr(v, 28)).replace(v, 28, bytes);
       },
       {"u", "v"},
       "tensor 'u' in block 1 of 1"},
      {"offsets exchanged in the header",
       [=](std::string* f) {
         exchange_in_header(offsets_u, "[x]")(f);
         exchange_in_header(offsets_v, offsets_u)(f);
         exchange_in_header("[x]", offsets_v)(f);
       },
       {"u", "v", "w", "none"},
       "its header is not the one that was saved"},
      {"a text of the header",
       exchange_in_header("\"pt\"", "\"tp\""),
       {"u", "v", "w", "none"},
       "its header is not the one that was saved"},
  };
  const Checkpoint before = open(folder.path());
  std::map<std::string, std::vector<std::byte>> values;
  for (const std::string& name : before.names()) values[name] = bytes_of(before, name);
  for (const DamageCase& c : cases) {
    SCOPED_TRACE(c.what);
    std::string bad = good;
    c.damage(&bad);
    ASSERT_NE(bad, good);
    folder.write(kSingleFile, bad);
    const Checkpoint damaged = open(folder.path());
    for (const auto& [name, value] : values) {
      if (name == "none") continue;
      if (std::ranges::find(c.damaged, name) == c.damaged.end()) {
        EXPECT_EQ(bytes_of(damaged, name), value) << name;
      } else {
        EXPECT_THAT([&] { bytes_of(damaged, name); },
                    ThrowsError(ErrorCode::kInvalidArgument,
                                "'" + (folder / kSingleFile).string() + "' is damaged"))
            << name;
      }
    }
    EXPECT_THAT(verify(folder.path()).faults, Contains(HasSubstr(c.fault)));
  }
}

TEST(DamagedFile, WhatIsNotReadDoesNotMatter) {
  const TemporaryFolder folder;
  save(folder.path(), tensors());
  const std::vector<std::byte> all = bytes_of(open(folder.path()), "w");
  std::string bad = text_of(folder / kSingleFile);
  bad[begin_of(folder, "w") + kBlockBytes + 17] ^= 1;
  folder.write(kSingleFile, bad);
  const Checkpoint damaged = open(folder.path());
  const auto bytes_from = [&](int64_t row, int64_t rows) {
    const size_t width = kColumns * sizeof(float);
    return std::vector(all.begin() + row * static_cast<int64_t>(width),
                       all.begin() + (row + rows) * static_cast<int64_t>(width));
  };
  const auto rows = [](int64_t row, int64_t rows) { return Box{{row, 0}, {rows, kColumns}}; };
  EXPECT_EQ(bytes_of(damaged, "w", rows(0, kBlockRows)), bytes_from(0, kBlockRows));
  EXPECT_EQ(bytes_of(damaged, "w", rows(2 * kBlockRows, 9)), bytes_from(2 * kBlockRows, 9));
  for (const Box& box : {rows(kBlockRows - 1, 2), rows(2 * kBlockRows - 1, 1),
                         Box{{0, 3}, {2 * kBlockRows, 1}}, Box{{kBlockRows, 255}, {1, 1}}}) {
    EXPECT_THAT([&] { bytes_of(damaged, "w", box); },
                ThrowsError(ErrorCode::kInvalidArgument, "block 2 of 3"))
        << box.to_string();
  }
  // However little each read takes, and whatever has been read before.
  for (int64_t row = 0; row < kBlockRows; ++row) {
    EXPECT_NO_THROW(bytes_of(damaged, "w", rows(row, 1)));
    EXPECT_THROW(bytes_of(damaged, "w", rows(kBlockRows + row, 1)), Error);
  }
}

TEST(DamagedIndex, EveryBitIsGuarded) {
  const TemporaryFolder folder;
  save(folder.path(), std::vector{random_bits("w", {Dims{3}, DataType::FLOAT32}, 1)},
       {.metadata = {{"step", "100"}}});
  const std::string path = (folder / kIndexFile).string();
  const std::string good = text_of(path);
  const std::string meaning = Index::decode(good, path).encode();
  ASSERT_EQ(meaning, good);
  size_t refused = 0;
  for (size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 1 << bit);
      try {
        EXPECT_EQ(Index::decode(bad, path).encode(), meaning) << "byte " << at << ", bit " << bit;
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr(path));
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 7 * good.size());
}

// Of a time before there were any, and of other tools.
TEST(ChecksumsThatNobodyTook, AreToldAndNotAskedFor) {
  const TemporaryFolder folder;
  save(folder.path(), tensors());
  Json index = JsonFile::open((folder / kIndexFile).string()).root();
  for (const char* key : {"checksum", "block_bytes", "headers"}) index.erase(key);
  for (Json& tensor : index["tensors"]) {
    for (Json& piece : tensor["pieces"]) piece.erase("sums");
  }
  folder.write(kIndexFile, index.dump());
  EXPECT_EQ(bytes_of(open(folder.path()), "w").size(), size_t{5} * kBlockBytes / 2);
  const Verification found = verify(folder.path());
  EXPECT_THAT(found.faults, IsEmpty());
  EXPECT_THAT(found.unprotected, ElementsAre("u", "v", "w"));
  EXPECT_THAT(verify((folder / kSingleFile).string()).unprotected, ElementsAre("u", "v", "w"));
}

TEST(Verify, SharesOutTheWorkAndFindsAllFaults) {
  const TemporaryFolder folder;
  save(folder.path(), tensors());
  const auto bytes = static_cast<int64_t>(5 * kBlockBytes / 2 + 2 * 28);
  const Verification good = verify(folder.path());
  EXPECT_THAT(good.faults, IsEmpty());
  EXPECT_THAT(good.unprotected, IsEmpty());
  EXPECT_EQ(good.tensors, 4);
  EXPECT_EQ(good.bytes, bytes);
  std::string bad = text_of(folder / kSingleFile);
  for (size_t block : {0, 2}) bad[begin_of(folder, "w") + block * kBlockBytes] ^= 1;
  folder.write(kSingleFile, bad);
  EXPECT_EQ(verify(folder.path()).faults.size(), 2u);
  int64_t seen = 0;
  std::set<std::string> faults;
  for (int64_t part = 0; part < 3; ++part) {
    const Verification share = verify(folder.path(), part, 3);
    EXPECT_LT(share.bytes, bytes);
    seen += share.bytes;
    faults.insert(share.faults.begin(), share.faults.end());
  }
  EXPECT_EQ(seen, bytes);
  EXPECT_EQ(faults.size(), 2u);
  fs::remove(folder / kSingleFile);
  EXPECT_THAT(verify(folder.path()).faults, ElementsAre(HasSubstr("there is no file")));
  EXPECT_THAT(verify((folder / "nowhere").string()).faults,
              ElementsAre(HasSubstr("there is no file")));
}

TEST(BlockChecksums, AreTheSameHoweverTheBytesCome) {
  std::mt19937 random(7);
  std::vector<std::byte> bytes(2 * kBlockBytes + 4096 + 5);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  for (const size_t size : {size_t{0}, size_t{1}, size_t{4096}, size_t{4097}, kBlockBytes,
                            kBlockBytes + 1, bytes.size()}) {
    const std::span<const std::byte> all(bytes.data(), size);
    std::vector<uint64_t> expected;
    for (size_t at = 0; at < size; at += kBlockBytes) {
      expected.push_back(checksum(all.subspan(at, std::min(kBlockBytes, size - at))));
    }
    for (const size_t most : {size_t{1} << 22, size_t{100'000}, size_t{5000}, size_t{17}}) {
      BlockChecksums sums;
      for (size_t at = 0; at < size;) {
        const size_t taken = std::min(size - at, 1 + random() % most);
        sums.add(all.subspan(at, taken));
        at += taken;
      }
      EXPECT_EQ(sums.finish(), expected) << size << " bytes, at most " << most << " at a time";
    }
    EXPECT_EQ(decode_sums(encode_sums(expected)), expected);
  }
  const std::vector<std::byte> zeros(5000);
  std::set<uint64_t> lengths;
  for (size_t size = 0; size <= zeros.size(); ++size) {
    lengths.insert(checksum(std::span(zeros).first(size)));
  }
  EXPECT_EQ(lengths.size(), zeros.size() + 1) << "zeros more or fewer are seen";
}

}  // namespace
}  // namespace phi::distributed::checkpoint
