// masked_multihead_attention_ on GPUs: one decoding step. The new positions are appended to the
// caches and attend to all positions there. The CPU kernel states the semantics.
//
// With one query per head there is nothing for tiles to share. Scores, weights and sums are lines,
// and the cache is read once.
#include <cmath>
#include <limits>

#include "phi/generated/kernels/decode_attention.h"
#include "phi/kernels/attention_shards.h"
#include "phi/kernels/functors/fast/math.h"
#include "phi/kernels/gpu/compute_array.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/lines.h"

namespace phi {
namespace {

/// cache_kv [2, batch, heads, room, width], and the number of valid positions.
struct CacheShape {
  int64_t batch;
  int64_t heads;
  int64_t room;
  int64_t width;
  const int32_t* lengths;  // [batch] before the step; null: `held` for each
  int64_t held;

  CacheShape(const Dims& d, const DenseTensor* sequence_lengths, const DenseTensor* src_mask)
      : batch(d[1]),
        heads(d[2]),
        room(d[3]),
        width(d[4]),
        lengths(sequence_lengths ? sequence_lengths->data<int32_t>() : nullptr),
        held(sequence_lengths ? 0 : src_mask->dims()[3] - 1) {}

  int64_t lines() const { return batch * heads; }
  /// Index of the new position in a line's cache, clamped to the room if it is rejected.
  PHI_HD int64_t position(int64_t line) const {
    const int64_t at = lengths ? lengths[line / heads] : held;
    return at < 0 ? 0 : (at < room ? at : room - 1);
  }
  /// Offset of a line's head in the cache; `which` is 0 for keys, 1 for values.
  PHI_HD int64_t head(int64_t which, int64_t line) const {
    return (which * batch * heads + line) * room * width;
  }
};

/// x [batch, 3, heads, width] with its bias.
template <typename T>
struct NewPosition {
  using C = compute_t<T>;
  const T* x;
  const C* bias;  // null: no bias
  int64_t heads;
  int64_t width;

  /// Element i of a line; `which` is 0 for the query, 1 for the key, 2 for the value.
  PHI_HD C operator()(int64_t which, int64_t line, int64_t i) const {
    const int64_t own = (which * heads + line % heads) * width + i;
    const C value = static_cast<C>(x[line / heads * 3 * heads * width + own]);
    return bias ? value + bias[own] : value;
  }
};

/// Appends the new keys and values; element i of [2, batch, heads, width].
template <typename T>
__global__ void append_position(NewPosition<T> now, CacheShape cache, int64_t n, T* kept) {
  for (int64_t i = gpu::first_item(); i < n; i += gpu::item_stride()) {
    const int64_t column = i % cache.width;
    const int64_t line = i / cache.width % (cache.batch * cache.heads);
    const int64_t which = i / cache.width / (cache.batch * cache.heads);
    kept[cache.head(which, line) + cache.position(line) * cache.width + column] =
        static_cast<T>(now(which + 1, line, column));
  }
}

/// scores[batch, heads, room] of the valid positions.
template <typename T>
struct ScoreLine {
  using C = compute_t<T>;
  NewPosition<T> now;
  CacheShape cache;
  const T* kept;
  const C* mask;  // null: no mask
  int64_t masked;
  C scale;
  C* scores;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t of_room) const {
    const int64_t line = of_room / cache.room;
    const int64_t position = of_room % cache.room;
    if (position > cache.position(line)) return;  // uniform for the team
    const T* const key = kept + cache.head(0, line) + position * cache.width;
    C score = scale * team.template sum<C>(cache.width, [&](int64_t i) {
      return now(0, line, i) * static_cast<C>(key[i]);
    });
    if (mask && position < masked) score += mask[line / cache.heads * masked + position];
    if (team.index() == 0) scores[of_room] = score;
  }
};

/// Replaces the scores of a head by softmax weights.
template <typename C>
struct WeightLine {
  CacheShape cache;
  C* scores;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    C* const row = scores + line * cache.room;
    const int64_t n = cache.position(line) + 1;
    const C most = team.template largest<C>(n, [&](int64_t j) { return row[j]; });
    const C total =
        team.template sum<C>(n, [&](int64_t j) { return fast::exp_or_zero(row[j] - most); });
    team.each(n, [&](int64_t j) { row[j] = fast::exp_or_zero(row[j] - most) / total; });
  }
};

/// out[batch, heads, width]. A line is one column of a head's values.
template <typename T>
struct ValueLine {
  using C = compute_t<T>;
  CacheShape cache;
  const T* kept;
  const C* weights;
  T* out;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t at) const {
    const int64_t line = at / cache.width;
    const T* const column = kept + cache.head(1, line) + at % cache.width;
    const C* const row = weights + line * cache.room;
    const C sum = team.template sum<C>(cache.position(line) + 1, [&](int64_t j) {
      return row[j] * static_cast<C>(column[j * cache.width]);
    });
    if (team.index() == 0) out[at] = static_cast<T>(sum);
  }
};

struct HasNoRoom {
  int64_t room;
  PHI_HD bool operator()(int64_t held) const { return held < 0 || held >= room; }
};

/// Errors: OutOfRange if a cache has no room for another position.
void check_room(const GpuContext& ctx, const CacheShape& cache,
                const DenseTensor* sequence_lengths) {
  if (cache.batch == 0) return;
  if (!sequence_lengths) {
    if (HasNoRoom{cache.room}(cache.held)) throw_no_room_for_position(cache.held, cache.room);
    return;
  }
  check_elements<int32_t>(ctx, *sequence_lengths, HasNoRoom{cache.room},
                          {.argument = "sequence_lengths",
                           .raise =
                               [](const DeviceAssertion& found) {
                                 throw_no_room_for_position(found.value, found.extent);
                               },
                           .extent = cache.room});
}

}  // namespace

template <typename T, typename Context>
void MaskedMultiheadAttentionKernel(const Context& ctx, const DenseTensor& x,
                                    const DenseTensor& cache_kv, const DenseTensor* bias,
                                    const DenseTensor* src_mask,
                                    const DenseTensor* sequence_lengths, DenseTensor* out,
                                    DenseTensor* cache_kv_out,
                                    DenseTensor* /*beam_cache_offset_out*/) {
  using C = compute_t<T>;
  const CacheShape cache(cache_kv.dims(), sequence_lengths, src_mask);
  check_room(ctx, cache, sequence_lengths);
  keep(ctx, cache_kv, cache_kv_out);
  if (cache_kv.numel() == 0) return;
  const gpu::ComputeArray<C> biases(ctx, bias);
  const gpu::ComputeArray<C> masks(ctx, src_mask);
  const NewPosition<T> now{x.data<T>(), biases.data(), cache.heads, cache.width};
  T* const kept = cache_kv_out->mutable_data<T>();
  const int64_t added = 2 * cache.lines() * cache.width;
  gpu::launch(ctx, append_position<T>, gpu::blocks_for(ctx, added), gpu::kBlock, now, cache, added,
              kept);
  DenseTensor scores =
      DenseTensor::empty({{cache.lines(), cache.room}, dtype_of<C>()}, ctx.place());
  C* const weights = scores.mutable_data<C>();
  const auto scale = static_cast<C>(1 / std::sqrt(static_cast<double>(cache.width)));
  gpu::for_each_line(ctx, gpu::AxisLines::rows(cache.lines() * cache.room, cache.width),
                     ScoreLine<T>{now, cache, kept, masks.data(),
                                  src_mask ? src_mask->dims()[3] : 0, scale, weights});
  gpu::for_each_line(ctx, gpu::AxisLines::rows(cache.lines(), cache.room),
                     WeightLine<C>{cache, weights});
  gpu::for_each_line(ctx, gpu::AxisLines({cache.lines(), cache.room, cache.width}, 1),
                     ValueLine<T>{cache, kept, weights, out->mutable_data<T>()});
}

PHI_REGISTER_KERNEL(masked_multihead_attention, GPU, MaskedMultiheadAttentionKernel, Floats);

}  // namespace phi
