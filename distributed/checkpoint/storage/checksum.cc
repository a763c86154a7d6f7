// Chains page checksums: each is the seed of the next.
#include "distributed/checkpoint/storage/checksum.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "phi/memory/io/page_checksum.h"

namespace phi::distributed::checkpoint {
namespace {

using memory::kPage;
using memory::page_checksum;

constexpr size_t kDigits = 16;

// The checksum of a block's partial last page, padded with zeros. Its size is part of the seed, so
// real zeros give another checksum.
uint64_t end_checksum(const std::byte* bytes, size_t size, uint64_t sum) {
  std::array<std::byte, kPage> page{};
  std::memcpy(page.data(), bytes, size);
  return page_checksum(page.data(), sum ^ size << 48);
}

}  // namespace

uint64_t checksum(std::span<const std::byte> bytes) {
  uint64_t sum = 0;
  size_t at = 0;
  for (; bytes.size() - at >= kPage; at += kPage) sum = page_checksum(bytes.data() + at, sum);
  return at == bytes.size() ? sum : end_checksum(bytes.data() + at, bytes.size() - at, sum);
}

uint64_t checksum(std::string_view text) { return checksum(std::as_bytes(std::span(text))); }

void BlockChecksums::add(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (in_page_ == 0 && bytes.size() >= kPage) {
      add_page(bytes.data());
      bytes = bytes.subspan(kPage);
      continue;
    }
    const size_t taken = std::min(kPage - in_page_, bytes.size());
    std::memcpy(page_.data() + in_page_, bytes.data(), taken);
    bytes = bytes.subspan(taken);
    in_page_ += taken;
    if (in_page_ < kPage) continue;
    in_page_ = 0;
    add_page(page_.data());
  }
}

void BlockChecksums::add_page(const std::byte* page) {
  sum_ = page_checksum(page, sum_);
  in_block_ += kPage;
  if (in_block_ == kBlockBytes) end_block();
}

void BlockChecksums::end_block() {
  sums_.push_back(std::exchange(sum_, 0));
  in_block_ = 0;
}

std::vector<uint64_t> BlockChecksums::finish() {
  if (in_page_ > 0) sum_ = end_checksum(page_.data(), in_page_, sum_);
  if (in_page_ + in_block_ > 0) end_block();
  in_page_ = 0;
  return std::exchange(sums_, {});
}

std::string encode_sums(std::span<const uint64_t> sums) {
  std::string text;
  text.reserve(sums.size() * kDigits);
  for (const uint64_t sum : sums) fmt::format_to(std::back_inserter(text), "{:016x}", sum);
  return text;
}

std::optional<std::vector<uint64_t>> decode_sums(std::string_view text) {
  if (text.size() % kDigits != 0) return std::nullopt;
  std::vector<uint64_t> sums(text.size() / kDigits);
  for (uint64_t& sum : sums) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + kDigits, sum, 16);
    if (error != std::errc() || end != text.data() + kDigits) return std::nullopt;
    text.remove_prefix(kDigits);
  }
  return sums;
}

}  // namespace phi::distributed::checkpoint
