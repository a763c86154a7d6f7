// masked_multihead_attention_ on the CPU: one generation step. Each batch entry has one new
// position, which is written to its cache and attends to all positions of the cache, including
// itself.
#include <cmath>
#include <vector>

#include "phi/core/device/scratch_context.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/decode_attention.h"
#include "phi/kernels/attention_shards.h"
#include "phi/kernels/cpu/numbers.h"
#include "phi/kernels/cpu/rows.h"

namespace phi {
namespace {

/// Layout of cache_kv [2, batch, heads, room, width].
struct Cache {
  int64_t batch, heads, room, width;

  explicit Cache(const Dims& d) : batch(d[1]), heads(d[2]), room(d[3]), width(d[4]) {}
  /// Returns the offset of a head's positions; `which` is 0 for keys, 1 for values.
  int64_t head(int64_t which, int64_t b, int64_t h) const {
    return ((which * batch + b) * heads + h) * room * width;
  }
};

/// Returns the number of positions in an entry's cache: from sequence_lengths or, without them,
/// from the mask, which has one position more.
///
/// Errors   OutOfRange if the cache has no room for the new position.
int64_t held(const DenseTensor* sequence_lengths, const DenseTensor* src_mask, int64_t b,
             int64_t room) {
  const int64_t held =
      sequence_lengths ? number_at<int64_t>(*sequence_lengths, b) : src_mask->dims()[3] - 1;
  if (held < 0 || held >= room) throw_no_room_for_position(held, room);
  return held;
}

}  // namespace

/// out = softmax(q k^T / sqrt(width) + src_mask) v. x [batch, 3 * heads * width] has query, key and
/// value of each entry's new position, to which bias [3, heads, width] is added. src_mask is null
/// or [batch, 1, 1, positions].
template <typename T, typename Context>
void MaskedMultiheadAttentionKernel(const Context&, const DenseTensor& x,
                                    const DenseTensor& cache_kv, const DenseTensor* bias,
                                    const DenseTensor* src_mask,
                                    const DenseTensor* sequence_lengths, DenseTensor* out,
                                    DenseTensor* cache_kv_out,
                                    DenseTensor* /*beam_cache_offset_out*/) {
  using C = compute_t<T>;
  const Cache cache(cache_kv.dims());
  keep(cache_kv, cache_kv_out);
  T* kept = cache_kv_out->mutable_data<T>();
  const int64_t part = cache.heads * cache.width;
  const ComputeArray<C> biases(bias);
  const ComputeArray<C> masks(src_mask);
  const C scale = static_cast<C>(1 / std::sqrt(static_cast<double>(cache.width)));
  RowReader<T> entries(x.data<T>(), 3 * part);
  std::vector<C> now(3 * part);
  std::vector<C> row(cache.width);
  std::vector<C> weights(cache.room);
  std::vector<C> sums(part);
  for (int64_t b = 0; b < cache.batch; ++b) {
    const int64_t at = held(sequence_lengths, src_mask, b, cache.room);
    const C* entry = entries.row(b);
    for (int64_t i = 0; i < 3 * part; ++i) now[i] = entry[i] + (bias ? biases.data()[i] : C(0));
    for (int64_t h = 0; h < cache.heads; ++h) {
      const C* query = now.data() + h * cache.width;
      T* keys = kept + cache.head(0, b, h);
      T* values = kept + cache.head(1, b, h);
      convert(query + part, keys + at * cache.width, cache.width);
      convert(query + 2 * part, values + at * cache.width, cache.width);
      for (int64_t j = 0; j <= at; ++j) {
        convert(keys + j * cache.width, row.data(), cache.width);
        weights[j] = scale * row_sum<C>(cache.width, [&](int64_t i) { return query[i] * row[i]; });
        if (src_mask && j < src_mask->dims()[3])
          weights[j] += masks.data()[b * src_mask->dims()[3] + j];
      }
      const C total =
          row_exp_sum(weights.data(), at + 1, row_max(weights.data(), at + 1), weights.data());
      C* sum = sums.data() + h * cache.width;
      std::fill_n(sum, cache.width, C(0));
      for (int64_t j = 0; j <= at; ++j) {
        convert(values + j * cache.width, row.data(), cache.width);
        for (int64_t i = 0; i < cache.width; ++i) sum[i] += weights[j] / total * row[i];
      }
    }
    convert(sums.data(), out->mutable_data<T>() + b * part, part);
  }
}

PHI_REGISTER_KERNEL(masked_multihead_attention, CPU, MaskedMultiheadAttentionKernel, Floats);
PHI_REGISTER_NO_SCRATCH(masked_multihead_attention, Halves);

}  // namespace phi
