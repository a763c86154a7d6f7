// Rotary position embedding on GPUs. All heads of q, k and v share one row of sines and cosines per
// position. templates/rope.h states the semantics.
#include <array>

#include "phi/common/errors.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/rope/rope_angles.h"
#include "phi/kernels/rotation.h"

namespace phi {
namespace {

/// Sines and cosines of a token, from computed angles or from the caller's tables of type A.
/// Element e of a head uses column e of a table, or the column of its pair of angles.
template <typename A>
struct AngleRows {
  const A* sines;
  const A* cosines;
  gpu::RopePositions positions;
  int64_t first_row;  // position of the table's first row
  int64_t rows;
  bool is_table;
};

struct HeadShape {
  gpu::Divider heads;
  gpu::Divider half;  // half of a head's columns
  gpu::Divider tokens;
  gpu::Divider batch;
  bool time_major;
  bool adjacent;
  bool has_ids;

  /// Index of token t among the positions, which are per token of the sequence or [batch, tokens].
  PHI_HD int64_t row(int64_t t) const {
    const gpu::Divider& inner = time_major ? batch : tokens;
    const int64_t outer = inner.quotient(t);
    const int64_t rest = t - outer * inner.by();
    if (!has_ids) return time_major ? outer : rest;
    return time_major ? rest * tokens.by() + outer : t;
  }
};

/// One thread rotates a pair: a' = a cos - b sin, b' = b cos + a sin. `back` applies the transpose.
template <typename T, typename A>
__global__ void rotate_pairs(const T* x, T* out, int64_t pairs, HeadShape shape,
                             AngleRows<A> angles, bool back) {
  using C = compute_t<T>;
  const int64_t half = shape.half.by();
  const int64_t dim = 2 * half;
  for (int64_t i = gpu::first_item(); i < pairs; i += gpu::item_stride()) {
    const int64_t head = shape.half.quotient(i);
    const int64_t pair = i - head * half;
    const int64_t first = shape.adjacent ? 2 * pair : pair;
    const int64_t second = shape.adjacent ? first + 1 : first + half;
    const int64_t at = shape.row(shape.heads.quotient(head));
    int64_t row = at;
    if (angles.is_table) {
      row = angles.positions.at(at) - angles.first_row;
      if (row < 0 || row >= angles.rows) continue;  // rejected by the device-side assertion
    }
    const int64_t own = row * (angles.is_table ? dim : half);
    const int64_t of_first = own + (angles.is_table ? first : pair);
    const int64_t of_second = own + (angles.is_table ? second : pair);
    const C a = static_cast<C>(x[head * dim + first]);
    const C b = static_cast<C>(x[head * dim + second]);
    const C sin_first = static_cast<C>(angles.sines[back ? of_second : of_first]);
    const C sin_second = static_cast<C>(angles.sines[back ? of_first : of_second]);
    const C sign = back ? C(-1) : C(1);
    out[head * dim + first] =
        static_cast<T>(a * static_cast<C>(angles.cosines[of_first]) - sign * b * sin_first);
    out[head * dim + second] =
        static_cast<T>(b * static_cast<C>(angles.cosines[of_second]) + sign * a * sin_second);
  }
}

[[noreturn]] void throw_no_row(const DeviceAssertion& found) {
  throw errors::InvalidArgument(
      "position {} is requested, but sin and cos have the rows [{}, {}) here.", found.value,
      found.begin, found.begin + found.extent);
}

struct HasNoRow {
  int64_t begin;
  int64_t rows;
  PHI_HD bool operator()(int64_t position) const {
    return position < begin || position >= begin + rows;
  }
};

/// Errors: InvalidArgument for a position without a row in the tables.
void check_rows(const GpuContext& ctx, const DenseTensor* ids, int64_t first, int64_t tokens,
                int64_t begin, int64_t rows) {
  const DeviceAssertion assertion{
      .argument = "position_ids", .raise = throw_no_row, .extent = rows, .begin = begin};
  const HasNoRow wrong{begin, rows};
  if (ids && ids->dtype() == DataType::INT32) {
    return check_elements<int32_t>(ctx, *ids, wrong, assertion);
  }
  if (ids) return check_elements<int64_t>(ctx, *ids, wrong, assertion);
  for (const int64_t position : {first, first + tokens - 1}) {
    if (tokens == 0 || !wrong(position)) continue;
    DeviceAssertion found = assertion;
    found.value = position < begin ? position : begin + rows;
    throw_no_row(found);
  }
}

template <typename T, typename A>
void rotate_each(const GpuContext& ctx, const std::array<const DenseTensor*, 3>& inputs,
                 const std::array<DenseTensor*, 3>& outputs, HeadShape shape,
                 const AngleRows<A>& angles, bool back) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] || !outputs[i]) continue;
    shape.heads = gpu::Divider(inputs[i]->dims()[2]);
    const int64_t pairs = inputs[i]->numel() / 2;
    if (pairs == 0) continue;
    gpu::launch(ctx, rotate_pairs<T, A>, gpu::blocks_for(ctx, pairs), gpu::kBlock,
                inputs[i]->template data<T>(), outputs[i]->template mutable_data<T>(), pairs, shape,
                angles, back);
  }
}

/// Rotates inputs[0], and the other inputs whose input and output are not null.
template <typename T>
void rotate_all(const GpuContext& ctx, const Rotation& how,
                const std::array<const DenseTensor*, 3>& inputs,
                const std::array<DenseTensor*, 3>& outputs) {
  using C = compute_t<T>;
  const DenseTensor& q = *inputs[0];
  const DenseTensor* ids = how.position_ids;
  const int seq_dim = how.time_major ? 0 : 1;
  const int64_t tokens = q.dims()[seq_dim];
  const int64_t batch = q.dims()[1 - seq_dim];
  const HeadShape shape{gpu::Divider(1),      gpu::Divider(q.dims()[3] / 2),
                        gpu::Divider(tokens), gpu::Divider(batch),
                        how.time_major,       how.adjacent,
                        ids != nullptr};
  PHI_CHECK(!ids || (ids->dims()[0] == batch && ids->dims()[1] == tokens),
            errors::PreconditionNotMet("position_ids has {} here and q {}; shard its batch and "
                                       "sequence as q's.",
                                       ids->dims().to_string(), q.dims().to_string()));
  gpu::RopePositions positions{ctx.input_box(0, q.dims()).box.offset[seq_dim], nullptr, nullptr};
  if (ids && ids->dtype() == DataType::INT32) positions.narrow = ids->data<int32_t>();
  if (ids && ids->dtype() == DataType::INT64) positions.wide = ids->data<int64_t>();
  if (how.sin) {
    const int row_dim = how.sin->ndim() == 2 ? 0 : 1;
    const int64_t begin = ctx.input_box(3, how.sin->dims()).box.offset[row_dim];
    const int64_t rows = how.sin->dims()[row_dim];
    check_rows(ctx, ids, positions.first, batch > 0 ? tokens : 0, begin, rows);
    return rotate_each<T, T>(ctx, inputs, outputs, shape,
                             {how.sin->data<T>(), how.cos->data<T>(), positions, begin, rows, true},
                             how.back);
  }
  const int64_t rows = ids ? batch * tokens : tokens;
  const TensorMeta meta{{rows, shape.half.by()}, dtype_of<C>()};
  DenseTensor sines = DenseTensor::empty(meta, ctx.place());
  DenseTensor cosines = DenseTensor::empty(meta, ctx.place());
  gpu::rope_angles<C>(ctx, positions, rows, shape.half.by(), how.base, sines.mutable_data<C>(),
                      cosines.mutable_data<C>());
  rotate_each<T, C>(ctx, inputs, outputs, shape,
                    {sines.data<C>(), cosines.data<C>(), positions, 0, rows, false}, how.back);
}

}  // namespace
}  // namespace phi

#include "phi/kernels/templates/rope.h"
