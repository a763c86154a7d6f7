// Checks of what an attention kernel is given.
#include "phi/kernels/cpu/attention/attention_tiles.h"

namespace phi {

AttentionPlaces attention_places(const KernelContext& ctx, const DenseTensor& q,
                                 const DenseTensor& k, const DenseTensor& v,
                                 const DenseTensor* attn_mask, int mask_input) {
  AttentionPlaces places{ctx.input_box(0, q.dims()), ctx.input_box(1, k.dims()), {}};
  PHI_CHECK(places.k.box.size[1] == places.k.global[1],
            errors::PreconditionNotMet("k has {} of {} here, but every query needs the whole of "
                                       "k's and v's sequence; reshard tensor dim 1 to Replicate.",
                                       places.k.box.to_string(), places.k.global.to_string()));
  const ShardBox value_place = ctx.input_box(2, v.dims());
  for (int d = 0; d < 3; ++d) {
    PHI_CHECK(value_place.box.offset[d] == places.k.box.offset[d] && v.dims()[d] == k.dims()[d],
              errors::PreconditionNotMet("v has {} here and k has {}; reshard v as k is.",
                                         value_place.box.to_string(), places.k.box.to_string()));
  }
  if (attn_mask) places.mask = ctx.input_box(mask_input, attn_mask->dims());
  return places;
}

void AttentionPlaces::check_keys() const {
  for (int64_t b = 0; b < q.box.size[0]; ++b) locate(k, 0, b + q.box.offset[0], "k");
  for (int64_t h = 0; h < q.box.size[2]; ++h) locate(k, 2, (h + q.box.offset[2]) / group(), "k");
}

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
