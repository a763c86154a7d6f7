// Threads that read the same data: the same ids for all, while files are mapped and make way, and
// while places of windows are found.
#include "support/races.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "api/data/token_files.h"
#include "tests/api/data/data_files.h"

namespace phi::data {
namespace {

using testing::at_once;
using testing::for_each_seed;

constexpr int kThreads = 6;
constexpr size_t kFiles = 7;

TEST(CorpusRaces, WindowsReadByManyThreads_AreTheTextsBytes) {
  const memory::ScratchFolder folder;
  std::string text;
  for (size_t file = 0; file < kFiles; ++file) {
    std::string bytes(900 + 700 * file, ' ');
    for (size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<char>('a' + (i * (file + 3) + i / 26) % 26);
    }
    std::ofstream(folder.file(std::to_string(file)), std::ios::binary) << bytes;
    text += bytes;
  }
  for_each_seed(40, [&](uint64_t seed) {
    // All at once, or so few that they make way for each other under the readers' hands.
    const size_t max_mapped = seed % 2 ? Corpus::kMaxMappedFiles : 2;
    const auto corpus = Corpus::open({folder.path()}, "", max_mapped);
    ASSERT_EQ(corpus->num_bytes(), static_cast<int64_t>(text.size()));
    at_once(kThreads, [&](int thread) {
      std::mt19937_64 random(seed * kThreads + static_cast<uint64_t>(thread));
      std::vector<uint8_t> window;
      for (int turn = 0; turn < 30; ++turn) {
        window.resize(random() % 3000);
        const size_t begin = random() % (text.size() - window.size());
        corpus->read(static_cast<int64_t>(begin), window);
        ASSERT_TRUE(std::equal(window.begin(), window.end(), text.begin() + begin)) << begin;
      }
    });
  });
}

TEST(TokenFilesRaces, PlacesOfWindowsAreFoundOnceAndAreTheSameForAll) {
  const DataFolder folder;
  std::vector<std::vector<int32_t>> documents;
  for (int32_t i = 0; i < 600; ++i) documents.push_back({i % 7, i % 5});
  const std::string prefix = folder.write_megatron("set", documents);
  for_each_seed(40, [&](uint64_t seed) {
    const auto files = TokenFiles::open(
        {.kind = DataKind::kMegatron, .paths = {prefix}, .documents = Documents::kApart});
    std::vector<std::shared_ptr<const WindowOffsets>> found(kThreads);
    at_once(kThreads, [&](int thread) {
      std::mt19937_64 random(seed * kThreads + static_cast<uint64_t>(thread));
      found[static_cast<size_t>(thread)] = files->window_offsets(3);
      const auto other = files->window_offsets(1 + static_cast<int64_t>(random() % 6));
      for (int turn = 0; turn < 30; ++turn) {
        const auto place = static_cast<int64_t>(random() % static_cast<uint64_t>(other->count()));
        int64_t id = 0;
        files->read(other->first_token_of(place), {&id, 1});
        ASSERT_EQ(id, other->first_token_of(place));
      }
    });
    for (const auto& window_offsets : found) ASSERT_EQ(window_offsets, found[0]);
  });
}

}  // namespace
}  // namespace phi::data
