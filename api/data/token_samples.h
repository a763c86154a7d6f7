// TokenSamples: windows of token data as samples.
#pragma once

#include <utility>

#include "api/data/sample_data.h"
#include "api/data/token_data.h"

namespace phi::data {

class TokenSamples final : public SampleData {
 public:
  /// Errors: as TokenFiles::window_offsets.
  TokenSamples(TokenData data, uint64_t seed, int64_t seq_len)
      : data_(std::move(data)), seed_(seed), seq_len_(seq_len) {
    data_.summary(seq_len_);
  }

  Tensor inputs(int64_t first, int64_t batch) const override {
    return data_.ids({seed_, first, batch, seq_len_});
  }
  Tensor labels(int64_t first, int64_t batch) const override {
    return data_.labels({seed_, first, batch, seq_len_});
  }
  DataSummary summary() const override { return data_.summary(seq_len_); }
  uint64_t fingerprint() const override { return data_.fingerprint(); }
  uint64_t content_fingerprint() const override { return data_.content_fingerprint(); }

 private:
  TokenData data_;
  uint64_t seed_;
  int64_t seq_len_;
};

}  // namespace phi::data
