// Threads that read one text: the same bytes for all, while files are mapped and make way.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "support/races.h"
#include "tests/phi/memory/scratch_folder.h"
#include "tools/job/corpus.h"

namespace phi::job {
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

}  // namespace
}  // namespace phi::job
