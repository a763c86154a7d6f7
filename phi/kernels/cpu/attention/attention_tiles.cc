// Dropout parameters of an attention kernel.
#include "phi/kernels/cpu/attention/attention_tiles.h"

namespace phi {

AttentionDropout AttentionDropout::make(const DenseTensor* seed_offset, float probability,
                                        bool is_test, int64_t keys) {
  AttentionDropout dropout;
  if (probability == 0.0f || is_test) return dropout;
  dropout.probability = probability;
  dropout.keys = keys;
  if (seed_offset) {
    const auto* values = seed_offset->data<int64_t>();
    dropout.seed = static_cast<uint64_t>(values[0]);
    dropout.offset = static_cast<uint64_t>(values[1]);
  }
  return dropout;
}

}  // namespace phi
