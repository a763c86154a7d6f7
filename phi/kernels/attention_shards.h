// Positions of the local shards of q, k, v and the mask in the global tensors of an attention call,
// shared by the kernels of all devices.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"

namespace phi {

/// The shards of q, k and the mask on this rank. v has k's shard.
struct AttentionShards {
  ShardBox q, k, mask;

  /// Returns the position of global element `index` of tensor dim `d` in the local array of `shard`
  /// (the argument `name`), or 0 if the tensor broadcasts along `d`. Errors: PreconditionNotMet if
  /// this rank does not have the element.
  int64_t locate(const ShardBox& shard, int d, int64_t index, std::string_view name) const {
    const int64_t local = shard.global[d] == 1 ? 0 : index - shard.box.offset[d];
    if (local < 0 || local >= shard.box.size[d]) throw_missing(shard, d, index, name);
    return local;
  }
  /// Query heads per key head.
  int64_t group() const { return q.global[2] / k.global[2]; }
  /// Errors: PreconditionNotMet if this rank lacks keys that its queries need.
  void check_keys() const;
  /// Errors: PreconditionNotMet if this rank lacks a part of attn_mask that its queries need.
  void check_mask() const;

 private:
  [[noreturn]] void throw_missing(const ShardBox& shard, int d, int64_t index,
                                  std::string_view name) const;
};

/// Reads the positions of the arguments from `ctx`. q, k and v are the op's tensors 0, 1 and 2;
/// `mask_input` is the number of attn_mask among them. Errors: PreconditionNotMet if k's sequence
/// is sharded or v's position differs from k's.
AttentionShards attention_shards(const KernelContext& ctx, const DenseTensor& q,
                                 const DenseTensor& k, const DenseTensor& v,
                                 const DenseTensor* attn_mask, int mask_input);

/// The position of one sequence of `positions` positions as the only entry of a batch. `all` is the
/// position of an array [all positions, heads, width] whose heads may be sharded.
ShardBox sequence_place(const ShardBox& all, int64_t positions);

/// The default factor of the scores: 1 / sqrt(width) for heads of `width` elements.
inline double attention_scale(int64_t width) {
  return 1.0 / std::sqrt(static_cast<double>(width > 1 ? width : 1));
}

/// Reports that cache_seqlens is too large: a cache of `room` positions with `held` used ones has
/// no room for `added` more. Errors: OutOfRange.
[[noreturn]] void throw_no_room_in_cache(int64_t held, int64_t room, int64_t added);
/// The same for one new position (masked_multihead_attention_). Errors: OutOfRange.
[[noreturn]] void throw_no_room_for_position(int64_t held, int64_t room);

/// Reports that cu_seqlens_q or cu_seqlens_k (`name`), whose last element is `end`, does not ascend
/// from 0 to at most `positions`. Errors: OutOfRange.
[[noreturn]] void throw_sequences_do_not_ascend(const char* name, int64_t positions, int64_t end);

}  // namespace phi
