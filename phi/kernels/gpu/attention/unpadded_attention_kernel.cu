// Attention over packed (varlen) sequences, and its gradient, on GPUs. One launch computes the
// tiles of all sequences; each sequence is an independent problem. The CPU kernels of the same
// names state the semantics.
#include <limits>

#include "phi/generated/kernels/fused_attention.h"
#include "phi/kernels/gpu/attention/attention_forward.h"
#include "phi/kernels/gpu/attention/attention_grad.h"
#include "phi/kernels/gpu/device_primitives.h"

namespace phi {
namespace gpu {
namespace {

/// Start offsets of packed sequences; the last number is the end of the last sequence.
struct SequenceBegins {
  const int64_t* data;
  int64_t count;
  int64_t positions;  // total number of positions

  /// Start of a sequence, clamped: numbers out of range fail a device-side assertion, and the
  /// kernel must stay within the arrays until then.
  __device__ int64_t at(int64_t sequence) const {
    const int64_t begin = data[sequence];
    return begin < 0 ? 0 : (begin > positions ? positions : begin);
  }
  __device__ int64_t length(int64_t sequence) const {
    const int64_t length = at(sequence + 1) - at(sequence);
    return length < 0 ? 0 : length;
  }
  /// First tile number of a sequence, begin / edge + sequence. A block finds its sequence by
  /// bisection on these. There are enough numbers for all tiles; some may be unused.
  __device__ int64_t first_tile(int64_t sequence, int64_t edge) const {
    return at(sequence) / edge + sequence;
  }
  int64_t tiles(int64_t edge) const { return positions / edge + count; }
};

/// The sequence to which tile number `tile` belongs.
__device__ int64_t sequence_of(const SequenceBegins& begins, int64_t tile, int64_t edge) {
  int64_t low = 0;
  int64_t high = begins.count;
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    (begins.first_tile(middle, edge) <= tile ? low : high) = middle;
  }
  return low;
}

struct Sequences {
  SequenceBegins queries;
  SequenceBegins keys;
};

/// The problem of one sequence, in shared memory: the common arguments with the sequence's extents
/// and pointers.
template <typename Arrays>
struct SequenceProblem {
  Arrays arrays;
  AttentionShape shape;
  int64_t begin;  // the tile's start in its sequence; past its end for unused tile numbers
};

template <typename T>
__device__ void move_arrays(ForwardArrays<T>* arrays, const AttentionShape& s, int64_t query,
                            int64_t key) {
  arrays->q += query * s.heads * s.width;
  arrays->k += key * s.kv_heads * s.width;
  arrays->v += key * s.kv_heads * s.value_width;
  arrays->out += query * s.heads * s.value_width;
  arrays->lse += query;
}
template <typename T>
__device__ void move_arrays(GradArrays<T>* arrays, const AttentionShape& s, int64_t query,
                            int64_t key) {
  arrays->q += query * s.heads * s.width;
  arrays->k += key * s.kv_heads * s.width;
  arrays->v += key * s.kv_heads * s.value_width;
  arrays->out_grad += query * s.heads * s.value_width;
  arrays->lse += query;
  arrays->delta += query;
  if (arrays->q_grad) arrays->q_grad += query * s.heads * s.width;
  if (arrays->k_grad) arrays->k_grad += key * s.kv_heads * s.width;
  if (arrays->v_grad) arrays->v_grad += key * s.kv_heads * s.value_width;
}

/// Sets up the problem of the sequence with tile number `tile` of `begins`, one of the two lists.
/// All threads of the block must take part.
template <typename Arrays>
__device__ void select_sequence(const Arrays& arrays, const AttentionShape& shape,
                                const Sequences& all, const SequenceBegins& begins, int64_t tile,
                                int64_t edge, SequenceProblem<Arrays>* own) {
  __syncthreads();  // the previous problem is complete
  if (threadIdx.x == 0) {
    const int64_t sequence = sequence_of(begins, tile, edge);
    own->begin = (tile - begins.first_tile(sequence, edge)) * edge;
    own->arrays = arrays;
    own->shape = shape;
    move_arrays(&own->arrays, shape, all.queries.at(sequence), all.keys.at(sequence));
    own->shape.sq = own->shape.global_sq = all.queries.length(sequence);
    own->shape.sk = all.keys.length(sequence);
    own->shape.drops = {drop_batches(own->shape.sk),
                        sequence_seed_shift(static_cast<uint64_t>(sequence))};
  }
  __syncthreads();
}

/// Blocks: [heads, parts of the value width, tiles of all sequences].
template <typename T>
__global__ void __launch_bounds__(AttentionTile<T>::kThreads, 1)
    attend_sequences(int64_t items, ForwardArrays<T> arrays, AttentionShape shape,
                     AttentionMask<T> no_mask, AttentionDropoutMask drops, Sequences sequences,
                     int64_t tiles) {
  __shared__ ForwardMemory<T> memory;
  __shared__ SequenceProblem<ForwardArrays<T>> own;
  ForwardTile<T> tile(own.arrays, own.shape, no_mask, drops, memory);
  const int64_t chunks = ForwardTile<T>::chunks_of(shape);
  for (int64_t item = blockIdx.x; item < items; item += gridDim.x) {
    select_sequence(arrays, shape, sequences, sequences.queries, item % tiles,
                    AttentionTile<T>::kEdge, &own);
    if (own.begin < own.shape.sq)
      tile.run(0, item / tiles / chunks, item / tiles % chunks, own.begin);
  }
}

/// Blocks: [heads, parts of the width, tiles of all sequences].
template <typename T>
__global__ void __launch_bounds__(AttentionTile<T>::kThreads, 1)
    find_sequence_query_grad(int64_t items, GradArrays<T> arrays, AttentionShape shape,
                             AttentionMask<T> no_mask, AttentionDropoutMask drops,
                             Sequences sequences, int64_t tiles) {
  using Tile = AttentionTile<T>;
  __shared__ QueryGradMemory<T> memory;
  __shared__ SequenceProblem<GradArrays<T>> own;
  GradTile<T> tile(own.arrays, own.shape, no_mask, drops, memory.tile);
  const int64_t chunks = tiles_of(shape.width, Tile::kColumns);
  for (int64_t item = blockIdx.x; item < items; item += gridDim.x) {
    select_sequence(arrays, shape, sequences, sequences.queries, item % tiles, Tile::kEdge, &own);
    if (own.begin < own.shape.sq) {
      find_query_tile(tile, memory, 0, item / tiles / chunks,
                      item / tiles % chunks * Tile::kColumns, own.begin);
    }
  }
}

/// Blocks: [kv_heads, parts of the widths, tiles of all sequences].
template <typename T>
__global__ void __launch_bounds__(AttentionTile<T>::kThreads, 1)
    find_sequence_key_grads(int64_t items, GradArrays<T> arrays, AttentionShape shape,
                            AttentionMask<T> no_mask, AttentionDropoutMask drops,
                            Sequences sequences, int64_t tiles) {
  using Tile = AttentionTile<T>;
  __shared__ KeyGradMemory<T> memory;
  __shared__ SequenceProblem<GradArrays<T>> own;
  GradTile<T> tile(own.arrays, own.shape, no_mask, drops, memory.tile);
  const int64_t widest = shape.width > shape.value_width ? shape.width : shape.value_width;
  const int64_t chunks = tiles_of(widest, Tile::kColumns);
  for (int64_t item = blockIdx.x; item < items; item += gridDim.x) {
    select_sequence(arrays, shape, sequences, sequences.keys, item % tiles, Tile::kEdge, &own);
    if (own.begin < own.shape.sk) {
      find_key_tile(tile, memory, 0, item / tiles / chunks, item / tiles % chunks * Tile::kColumns,
                    own.begin);
    }
  }
}

/// `lines` is the number of heads times the number of column parts.
template <typename T, typename Kernel, typename Arrays>
void launch_sequences(const GpuContext& ctx, Kernel kernel, int64_t lines, const Arrays& arrays,
                      const AttentionShape& shape, const AttentionDropoutMask& drops,
                      const Sequences& sequences, const SequenceBegins& of_tiles) {
  using Tile = AttentionTile<T>;
  const int64_t tiles = of_tiles.tiles(Tile::kEdge);
  if (lines * tiles == 0) return;
  launch(ctx, kernel, blocks_of(lines * tiles), Tile::kThreads, lines * tiles, arrays, shape,
         AttentionMask<T>(nullptr, {}), drops, sequences, tiles);
}

struct EndOfLast {
  const int64_t* begins;
  int64_t last;
  PHI_HD int64_t operator()(int64_t) const { return begins[last]; }
};
struct DoesNotAscend {
  const int64_t* begins;
  int64_t positions;
  PHI_HD bool operator()(int64_t /*end*/, int64_t i) const {
    const int64_t least = i == 0 ? 0 : begins[i - 1];
    return begins[i] < least || (i == 0 && begins[0] != 0) || begins[i] > positions;
  }
};

/// cu_seqlens_q or cu_seqlens_k, converted to int64; this object owns the array.
class Begins {
 public:
  Begins(const GpuContext& ctx, const DenseTensor& given, const char* name, int64_t positions)
      : array_(given), positions_(positions) {
    if (given.dtype() != DataType::INT64) {
      array_ = DenseTensor::empty({given.dims(), DataType::INT64}, ctx.place());
      convert(ctx, given.data<int32_t>(), array_.mutable_data<int64_t>(), given.numel());
    }
    refuse(ctx, name);
  }
  SequenceBegins get() const { return {array_.data<int64_t>(), array_.numel() - 1, positions_}; }

 private:
  /// Checks the offsets. The error reports the end of the last sequence.
  void refuse(const GpuContext& ctx, const char* name) const {
    const int64_t n = array_.numel();
    const auto* const begins = array_.data<int64_t>();
    DenseTensor ends = DenseTensor::empty(array_.meta(), ctx.place());
    index_loop(ctx, ends.mutable_data<int64_t>(), n, EndOfLast{begins, n - 1});
    check_elements<int64_t>(ctx, ends, DoesNotAscend{begins, positions_},
                            {.argument = name,
                             .raise =
                                 [](const DeviceAssertion& found) {
                                   throw_sequences_do_not_ascend(found.argument, found.extent,
                                                                 found.value);
                                 },
                             .extent = positions_});
  }

  DenseTensor array_;
  int64_t positions_;
};

/// The shape that all sequences share, as if all positions were one sequence.
AttentionShape common_shape(const KernelContext& ctx, const DenseTensor& q, const DenseTensor& k,
                            const DenseTensor& v, bool causal, float scale) {
  const AttentionShards places{sequence_place(ctx.input_box(0, q.dims()), q.dims()[0]),
                               sequence_place(ctx.input_box(1, k.dims()), k.dims()[0]),
                               {}};
  places.check_keys();
  const auto as_entry = [](const DenseTensor& x) {
    return x.view({1, x.dims()[0], x.dims()[1], x.dims()[2]});
  };
  AttentionShape shape = attention_shape(as_entry(q), as_entry(k), as_entry(v), places, causal);
  if (scale > 0) shape.scale = scale;
  return shape;
}

}  // namespace
}  // namespace gpu

template <typename T, typename Context>
void FlashAttnUnpaddedKernel(const Context& ctx, const DenseTensor& q, const DenseTensor& k,
                             const DenseTensor& v, const DenseTensor& cu_seqlens_q,
                             const DenseTensor& cu_seqlens_k, const DenseTensor* fixed_seed_offset,
                             const Scalar& /*max_seqlen_q*/, const Scalar& /*max_seqlen_k*/,
                             float scale, float dropout, bool causal, bool is_test,
                             DenseTensor* out, DenseTensor* /*softmax*/, DenseTensor* softmax_lse,
                             DenseTensor* seed_offset) {
  using C = compute_t<T>;
  const gpu::AttentionDropoutMask drops(fixed_seed_offset, dropout, is_test);
  if (seed_offset) {
    index_loop(ctx, seed_offset->mutable_data<int64_t>(), seed_offset->numel(),
               gpu::CopySeed{drops.seed_offset});
  }
  const gpu::Begins q_begins(ctx, cu_seqlens_q, "cu_seqlens_q", q.dims()[0]);
  const gpu::Begins k_begins(ctx, cu_seqlens_k, "cu_seqlens_k", k.dims()[0]);
  fill(ctx, out->mutable_data<T>(), out->numel(), T(0.0f));
  fill(ctx, softmax_lse->mutable_data<C>(), softmax_lse->numel(),
       -std::numeric_limits<C>::infinity());
  if (q.dims()[0] * q.dims()[1] == 0) return;
  const gpu::AttentionShape shape = gpu::common_shape(ctx, q, k, v, causal, scale);
  const gpu::ForwardArrays<T> arrays{q.data<T>(), k.data<T>(),
                                     v.data<T>(), out->mutable_data<T>(),
                                     nullptr,     softmax_lse->mutable_data<C>()};
  const gpu::Sequences sequences{q_begins.get(), k_begins.get()};
  gpu::launch_sequences<T>(ctx, gpu::attend_sequences<T>,
                           shape.heads * gpu::ForwardTile<T>::chunks_of(shape), arrays, shape,
                           drops, sequences, sequences.queries);
}

/// A null output is not computed.
template <typename T, typename Context>
void FlashAttnUnpaddedGradKernel(const Context& ctx, const DenseTensor& q, const DenseTensor& k,
                                 const DenseTensor& v, const DenseTensor& cu_seqlens_q,
                                 const DenseTensor& cu_seqlens_k, const DenseTensor& out,
                                 const DenseTensor& softmax_lse, const DenseTensor* seed_offset,
                                 const DenseTensor& out_grad, float scale, float dropout,
                                 bool causal, bool is_test, DenseTensor* q_grad,
                                 DenseTensor* k_grad, DenseTensor* v_grad) {
  using C = compute_t<T>;
  using Tile = gpu::AttentionTile<T>;
  const gpu::Begins q_begins(ctx, cu_seqlens_q, "cu_seqlens_q", q.dims()[0]);
  const gpu::Begins k_begins(ctx, cu_seqlens_k, "cu_seqlens_k", k.dims()[0]);
  for (DenseTensor* grad : {q_grad, k_grad, v_grad})
    if (grad) fill(ctx, grad->mutable_data<T>(), grad->numel(), T(0.0f));
  const gpu::AttentionShape shape = gpu::common_shape(ctx, q, k, v, causal, scale);
  const DenseTensor delta = gpu::attention_delta<T>(ctx, out, out_grad, softmax_lse.dims());
  const auto data_of = [](DenseTensor* x) { return x ? x->mutable_data<T>() : nullptr; };
  const gpu::GradArrays<T> arrays{q.data<T>(),        k.data<T>(),           v.data<T>(),
                                  out_grad.data<T>(), softmax_lse.data<C>(), delta.data<C>(),
                                  data_of(q_grad),    data_of(k_grad),       data_of(v_grad)};
  const gpu::Sequences sequences{q_begins.get(), k_begins.get()};
  const gpu::AttentionDropoutMask drops(seed_offset, dropout, is_test);
  if (q_grad) {
    gpu::launch_sequences<T>(ctx, gpu::find_sequence_query_grad<T>,
                             shape.heads * gpu::tiles_of(shape.width, Tile::kColumns), arrays,
                             shape, drops, sequences, sequences.queries);
  }
  if (k_grad || v_grad) {
    const int64_t widest = std::max(shape.width, shape.value_width);
    gpu::launch_sequences<T>(ctx, gpu::find_sequence_key_grads<T>,
                             shape.kv_heads * gpu::tiles_of(widest, Tile::kColumns), arrays, shape,
                             drops, sequences, sequences.keys);
  }
}

PHI_REGISTER_KERNEL(flash_attn_unpadded, GPU, FlashAttnUnpaddedKernel, Floats);
PHI_REGISTER_KERNEL(flash_attn_unpadded_grad, GPU, FlashAttnUnpaddedGradKernel, Floats);

}  // namespace phi
