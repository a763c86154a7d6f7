// Fingerprints, and batches of windows drawn from a corpus.
#include "tools/job/text_data.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "phi/common/errors.h"
#include "tools/job/corpus.h"

namespace fs = std::filesystem;

namespace phi::job {
namespace {

// Finalizer of SplitMix64 (Steele, Lea, Flood 2014): a bijection with good avalanche.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

TextData TextData::open(const std::vector<std::string>& paths, const std::string& base) {
  TextData data;
  data.corpus_ = Corpus::open(paths, base);
  return data;
}

int64_t TextData::num_bytes() const { return corpus_->num_bytes(); }
size_t TextData::num_files() const { return corpus_->files().size(); }

void TextData::read(int64_t offset, std::span<uint8_t> out) const { corpus_->read(offset, out); }

uint64_t TextData::fingerprint() const {
  uint64_t hash = 0;
  for (const Corpus::File& file : corpus_->files()) {
    hash = mix(hash ^ static_cast<uint64_t>(file.size));
    for (char c : fs::path(file.path).filename().string())
      hash = mix(hash ^ static_cast<uint8_t>(c));
  }
  return hash;
}

int64_t TextData::offset_of(const Draw& draw, int64_t sample) const {
  const int64_t places = num_bytes() - draw.seq_len;
  const uint64_t random = mix(mix(draw.seed) + static_cast<uint64_t>(draw.first_sample + sample));
  return static_cast<int64_t>(random % static_cast<uint64_t>(places));
}

// A batch, read from the files row by row; a byte of them is a token.
class TextData::Windows final : public Storage::Source {
 public:
  Windows(TextData text, const Draw& draw, int64_t shift, const Dims& shape)
      : text_(std::move(text)), draw_(draw), shift_(shift), meta_{shape, DataType::INT64} {}

  const TensorMeta& meta() const override { return meta_; }
  std::optional<Tier> tier() const override { return Tier::kDisk; }
  int64_t stored_bytes(const Box& box) const override { return box.numel(); }
  void read(const Box& box, DenseTensor* out) const override {
    std::vector<uint8_t> window(static_cast<size_t>(box.size[1]));
    int64_t* to = out->mutable_data<int64_t>();
    for (int64_t row = 0; row < box.size[0]; ++row) {
      const int64_t begin = text_.offset_of(draw_, box.offset[0] + row) + shift_ + box.offset[1];
      text_.read(begin, window);
      to = std::copy(window.begin(), window.end(), to);
    }
  }

 private:
  TextData text_;
  Draw draw_;
  int64_t shift_;
  TensorMeta meta_;
};

Tensor TextData::windows(const Draw& draw, int64_t shift, const Dims& shape) const {
  PHI_CHECK(num_bytes() > draw.seq_len,
            errors::InvalidArgument("{} bytes of text are too few for windows of {} + 1.",
                                    num_bytes(), draw.seq_len));
  return deferred(std::make_shared<const Windows>(*this, draw, shift, shape));
}

}  // namespace phi::job
