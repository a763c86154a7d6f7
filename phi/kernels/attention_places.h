// Where the parts of q, k, v and the mask that an attention kernel is given lie in the global
// tensors, for kernels of every device.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"

namespace phi {

struct AttentionPlaces {
  ShardBox q, k, mask;

  /// Where global element `index` of tensor dim `d` is in the local array of `shard`, the argument
  /// `name`; 0 where it broadcasts. Errors: PreconditionNotMet if it is not here.
  int64_t locate(const ShardBox& shard, int d, int64_t index, std::string_view name) const {
    const int64_t local = shard.global[d] == 1 ? 0 : index - shard.box.offset[d];
    if (local < 0 || local >= shard.box.size[d]) throw_missing(shard, d, index, name);
    return local;
  }
  /// Query heads per key head.
  int64_t group() const { return q.global[2] / k.global[2]; }
  /// Errors: PreconditionNotMet if keys that queries here need are not here.
  void check_keys() const;
  /// Errors: PreconditionNotMet if a part of attn_mask that queries here need is not here.
  void check_mask() const;

 private:
  [[noreturn]] void throw_missing(const ShardBox& shard, int d, int64_t index,
                                  std::string_view name) const;
};

/// `mask_input` is attn_mask's number among the op's tensors; q, k and v are 0, 1 and 2.
/// Errors: PreconditionNotMet unless k's sequence is whole and v lies as k does.
AttentionPlaces attention_places(const KernelContext& ctx, const DenseTensor& q,
                                 const DenseTensor& k, const DenseTensor& v,
                                 const DenseTensor* attn_mask, int mask_input);

/// Where a sequence of so many positions lies, as the only entry of a batch, that is part of an
/// array [all positions, heads, width]: heads may be a part of all.
ShardBox sequence_place(const ShardBox& all, int64_t positions);

/// What scores of heads of `width` are multiplied by if nothing else is said.
inline double attention_scale(int64_t width) {
  return 1.0 / std::sqrt(static_cast<double>(width > 1 ? width : 1));
}

/// cache_seqlens: `held` positions of a cache with `room` leave none for `added` more.
[[noreturn]] void throw_no_room_in_cache(int64_t held, int64_t room, int64_t added);
/// The same of one more position (masked_multihead_attention_).
[[noreturn]] void throw_no_room_for_position(int64_t held, int64_t room);

/// cu_seqlens_q or cu_seqlens_k, whose last number is `end`.
[[noreturn]] void throw_sequences_do_not_ascend(const char* name, int64_t positions, int64_t end);

}  // namespace phi
