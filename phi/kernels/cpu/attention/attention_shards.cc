// Checks of the arguments of attention kernels.
#include "phi/kernels/attention_shards.h"

#include "phi/common/errors.h"

namespace phi {

AttentionShards attention_shards(const KernelContext& ctx, const DenseTensor& q,
                                 const DenseTensor& k, const DenseTensor& v,
                                 const DenseTensor* attn_mask, int mask_input) {
  AttentionShards places{ctx.input_box(0, q.dims()), ctx.input_box(1, k.dims()), {}};
  PHI_CHECK(places.k.box.size[1] == places.k.global[1],
            errors::PreconditionNotMet("k has {} of {} here, but every query needs the full "
                                       "sequence of k and v; reshard tensor dim 1 to Replicate.",
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

void AttentionShards::check_keys() const {
  for (int64_t b = 0; b < q.box.size[0]; ++b) locate(k, 0, b + q.box.offset[0], "k");
  for (int64_t h = 0; h < q.box.size[2]; ++h) locate(k, 2, (h + q.box.offset[2]) / group(), "k");
}

void AttentionShards::check_mask() const {
  constexpr int kOfMask[] = {0, 2, 1};  // attn_mask's tensor dim for q's batch, sequence and heads
  for (int d = 0; d < 3; ++d) {
    for (int64_t i = 0; i < q.box.size[d]; ++i)
      locate(mask, kOfMask[d], i + q.box.offset[d], "attn_mask");
  }
}

void AttentionShards::throw_missing(const ShardBox& shard, int d, int64_t index,
                                    std::string_view name) const {
  throw errors::PreconditionNotMet(
      "{} has {} of {} here, which lacks index {} of tensor dim {} that q's shard {} of {} needs; "
      "reshard {} to match q.",
      name, shard.box.to_string(), shard.global.to_string(), index, d, q.box.to_string(),
      q.global.to_string(), name);
}

void throw_no_room_in_cache(int64_t held, int64_t room, int64_t added) {
  throw errors::OutOfRange(
      "cache_seqlens has a {}: caches with room for {} positions cannot store {} more after that "
      "many; allocate larger ones.",
      held, room, added);
}

void throw_no_room_for_position(int64_t held, int64_t room) {
  throw errors::OutOfRange(
      "a sequence has {} positions already: a cache with room for {} cannot store one more; "
      "allocate a larger one.",
      held, room);
}

void throw_sequences_do_not_ascend(const char* name, int64_t positions, int64_t end) {
  throw errors::OutOfRange(
      "{} must ascend from 0 and end within the {} positions available; it ends at {}.", name,
      positions, end);
}

ShardBox sequence_place(const ShardBox& all, int64_t positions) {
  const int64_t width = all.global[2];
  return {Dims{1, positions, all.global[1], width},
          {Dims{0, 0, all.box.offset[1], 0}, Dims{1, positions, all.box.size[1], width}}};
}

}  // namespace phi
