// Rotary position embedding. Device primitive: rotate_all.
//
// J. Su, Y. Lu, S. Pan, B. Wen, Y. Liu, "RoFormer: Enhanced Transformer with Rotary Position
// Embedding", 2021.
#pragma once

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/attention.h"
#include "phi/kernels/rotation.h"

namespace phi {

/// Rotates each pair (a, b) of a head by its angle: a' = a cos - b sin, b' = b cos + a sin.
///
/// Pairs      use_neox_rotary_style true: elements 2 i and 2 i + 1; false: i and i + head_dim / 2.
///            These are Paddle's meanings of the flag; other projects use its name the other way
///            round.
/// Angles     Pair i at position p has the angle p * base^(-2 i / head_dim) in both styles. If sin
///            and cos are present, element e uses row p, column e of them instead.
/// Positions  position_ids, or else the global index in the sequence, so positions of a sharded
///            sequence continue from rank to rank.
///
/// k and v are rotated like q; an absent one has a null result. T is float, double, bfloat16 or
/// float16. Errors: InvalidArgument for a position without a row in the tables.
template <typename T, typename Context>
void FusedRopeKernel(const Context& ctx, const DenseTensor& q, const DenseTensor* k,
                     const DenseTensor* v, const DenseTensor* sin, const DenseTensor* cos,
                     const DenseTensor* position_ids, bool use_neox_rotary_style, bool time_major,
                     float rotary_emb_base, DenseTensor* out_q, DenseTensor* out_k,
                     DenseTensor* out_v) {
  rotate_all<T>(ctx,
                {sin, cos, position_ids, use_neox_rotary_style, time_major, rotary_emb_base, false},
                {&q, k, v}, {out_q, out_k, out_v});
}

/// The gradients, rotated back: q_grad a = g_a cos_a + g_b sin_b, q_grad b = g_b cos_b - g_a sin_a.
/// A null gradient is not computed.
template <typename T, typename Context>
void FusedRopeGradKernel(const Context& ctx, const DenseTensor& out_q_grad,
                         const DenseTensor* out_k_grad, const DenseTensor* out_v_grad,
                         const DenseTensor* sin, const DenseTensor* cos,
                         const DenseTensor* position_ids, bool use_neox_rotary_style,
                         bool time_major, float rotary_emb_base, DenseTensor* q_grad,
                         DenseTensor* k_grad, DenseTensor* v_grad) {
  rotate_all<T>(ctx,
                {sin, cos, position_ids, use_neox_rotary_style, time_major, rotary_emb_base, true},
                {&out_q_grad, out_k_grad, out_v_grad}, {q_grad, k_grad, v_grad});
}

PHI_REGISTER_KERNEL(fused_rotary_position_embedding, PHI_DEVICE, FusedRopeKernel, Floats);
PHI_REGISTER_KERNEL(fused_rotary_position_embedding_grad, PHI_DEVICE, FusedRopeGradKernel, Floats);

}  // namespace phi
