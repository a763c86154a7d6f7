// Prefix sums of places by blocks of documents, with a linear search within a block.
#include "api/data/window_offsets.h"

#include <algorithm>
#include <utility>

#include "phi/common/errors.h"

namespace phi::data {
namespace {

constexpr int64_t kBlock = 256;  // documents

}  // namespace

WindowOffsets::WindowOffsets(int64_t num_tokens, int64_t seq_len)
    : seq_len_(seq_len), count_(windows_in(num_tokens)), longest_(num_tokens) {}

WindowOffsets::WindowOffsets(std::shared_ptr<const DocumentEnds> documents, int64_t seq_len)
    : documents_(std::move(documents)), seq_len_(seq_len) {
  for (int64_t block = 0; block * kBlock < documents_->count(); ++block) {
    first_windows_.push_back(count_);
    const std::vector<int64_t> bounds = bounds_of(block);
    for (size_t i = 1; i < bounds.size(); ++i) {
      const int64_t tokens = bounds[i] - bounds[i - 1];
      count_ += windows_in(tokens);
      left_out_ += windows_in(tokens) == 0;
      longest_ = std::max(longest_, tokens);
    }
  }
}

std::vector<int64_t> WindowOffsets::bounds_of(int64_t block) const {
  const int64_t first = block * kBlock;
  const int64_t count = std::min(kBlock, documents_->count() - first);
  std::vector<int64_t> bounds(static_cast<size_t>(count + 1), 0);
  const bool has_before = block > 0;
  documents_->read(has_before ? first - 1 : 0, std::span(bounds).subspan(has_before ? 0 : 1));
  return bounds;
}

int64_t WindowOffsets::first_token_of(int64_t window) const {
  if (!documents_) return window;
  const auto block = std::upper_bound(first_windows_.begin(), first_windows_.end(), window) - 1;
  int64_t left = window - *block;
  const std::vector<int64_t> bounds = bounds_of(block - first_windows_.begin());
  for (size_t i = 1; i < bounds.size(); ++i) {
    const int64_t here = windows_in(bounds[i] - bounds[i - 1]);
    if (left < here) return bounds[i - 1] + left;
    left -= here;
  }
  throw errors::Unavailable("the ends of documents have changed since the data was opened.");
}

}  // namespace phi::data
