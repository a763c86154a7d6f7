// Batches as sources of deferred tensors.
#include "api/data/token_data.h"

#include <optional>
#include <utility>

#include "phi/common/split_mix.h"

namespace phi::data {
namespace {

int64_t first_token_in(const WindowOffsets& window_offsets, const BatchSpec& spec, int64_t sample) {
  const uint64_t random =
      split_mix(split_mix(spec.seed) + static_cast<uint64_t>(spec.first_sample + sample));
  return window_offsets.first_token_of(
      static_cast<int64_t>(random % static_cast<uint64_t>(window_offsets.count())));
}

}  // namespace

// The source of a batch, which reads windows row by row.
class TokenData::WindowSource final : public Storage::Source {
 public:
  WindowSource(std::shared_ptr<const TokenFiles> files, const BatchSpec& spec, int64_t shift,
               const Dims& shape)
      : files_(std::move(files)),
        window_offsets_(files_->window_offsets(spec.seq_len)),
        spec_(spec),
        shift_(shift),
        meta_{shape, DataType::INT64} {}

  const TensorMeta& meta() const override { return meta_; }
  std::optional<Tier> tier() const override { return Tier::kDisk; }
  int64_t stored_bytes(const Box& box) const override {
    return box.numel() * size_of(files_->type());
  }
  void read(const Box& box, DenseTensor* out) const override {
    int64_t* to = out->mutable_data<int64_t>();
    for (int64_t row = 0; row < box.size[0]; ++row, to += box.size[1]) {
      const int64_t begin = first_token_in(*window_offsets_, spec_, box.offset[0] + row);
      files_->read(begin + shift_ + box.offset[1], {to, static_cast<size_t>(box.size[1])});
    }
  }

 private:
  std::shared_ptr<const TokenFiles> files_;
  std::shared_ptr<const WindowOffsets> window_offsets_;
  BatchSpec spec_;
  int64_t shift_;
  TensorMeta meta_;
};

TokenData TokenData::open(const DataOptions& options) {
  return TokenData(TokenFiles::open(options));
}

int64_t TokenData::first_token_of(const BatchSpec& spec, int64_t sample) const {
  return first_token_in(*files_->window_offsets(spec.seq_len), spec, sample);
}

Tensor TokenData::windows(const BatchSpec& spec, int64_t shift, const Dims& shape) const {
  return deferred(std::make_shared<const WindowSource>(files_, spec, shift, shape));
}

}  // namespace phi::data
