// Chooses the pages of a file and hashes their words.
#include "phi/common/sampled_hash.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "phi/common/process/mapped_file.h"
#include "phi/common/split_mix.h"

namespace phi {
namespace {

// Index of the n-th of `chosen` pages out of `pages`. The first and the last page are chosen, and
// one page out of each of `chosen` - 2 equal ranges between them.
int64_t page_at(int64_t n, int64_t chosen, int64_t pages) {
  if (chosen == pages) return n;
  if (n == 0) return 0;
  if (n == chosen - 1) return pages - 1;
  const int64_t ranges = chosen - 2;
  const int64_t between = pages - 2;
  // Equals between * i / ranges; this order of operations cannot overflow.
  const auto begin_of = [&](int64_t i) {
    return between / ranges * i + between % ranges * i / ranges;
  };
  const int64_t begin = begin_of(n - 1);
  const int64_t length = begin_of(n) - begin;
  const uint64_t drawn = split_mix(static_cast<uint64_t>(pages) ^ split_mix(n));
  return 1 + begin + static_cast<int64_t>(drawn % static_cast<uint64_t>(length));
}

}  // namespace

uint64_t hash_bytes(uint64_t seed, std::span<const std::byte> bytes) {
  uint64_t hash = split_mix(seed ^ bytes.size());
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof(word), bytes.size() - at));
    hash = split_mix(hash ^ word);
  }
  return hash;
}

uint64_t sampled_hash(const std::string& path, int64_t max_pages) {
  const auto file = MappedFile::open(path, MappedFile::AccessPattern::kRandom);
  const auto size = static_cast<int64_t>(file->size());
  const int64_t pages = size / kSampledPageBytes + (size % kSampledPageBytes != 0 ? 1 : 0);
  const int64_t chosen = std::min(pages, std::max<int64_t>(max_pages, 2));
  uint64_t hash = split_mix(file->size());
  std::array<std::byte, kSampledPageBytes> page;
  for (int64_t n = 0; n < chosen; ++n) {
    const int64_t begin = page_at(n, chosen, pages) * kSampledPageBytes;
    const std::span bytes(page.data(),
                          static_cast<size_t>(std::min(kSampledPageBytes, size - begin)));
    file->read(static_cast<size_t>(begin), bytes);
    hash = hash_bytes(hash, bytes);
  }
  return hash;
}

uint64_t sampled_hash_of(std::span<const std::string> paths) {
  constexpr int64_t kMostPages = 1024;
  constexpr int64_t kMostPagesOfAFile = 64;
  const int64_t share = kMostPages / std::max<int64_t>(1, static_cast<int64_t>(paths.size()));
  uint64_t hash = split_mix(paths.size());
  for (const std::string& path : paths) {
    const std::string name = path.substr(path.rfind('/') + 1);
    hash = hash_bytes(hash, std::as_bytes(std::span(name)));
    hash = split_mix(hash ^ sampled_hash(path, std::clamp<int64_t>(share, 2, kMostPagesOfAFile)));
  }
  return hash;
}

uint64_t whole_hash(const std::string& path) {
  return sampled_hash(path, std::numeric_limits<int64_t>::max());
}

}  // namespace phi
