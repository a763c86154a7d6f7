// Sharding rules of linear algebra that the YAML notation cannot express. Batch dims and the
// columns of right-hand sides may be split; matrices must be whole.
#pragma once

#include <string>

#include "distributed/spmd/rule.h"

namespace phi::distributed {

/// Gradients are Partial(sum) over mesh dims that split a batch along which the tensor was
/// broadcast. A matrix's gradient is also Partial(sum) where the columns of the right-hand side are
/// split.
SpmdRule SolveInferSpmd(const TensorSpec& x, const TensorSpec& y);
SpmdRule SolveGradInferSpmd(const TensorSpec& x, const TensorSpec& y, const TensorSpec& out,
                            const TensorSpec& out_grad);
SpmdRule CholeskySolveGradInferSpmd(const TensorSpec& x, const TensorSpec& y, const TensorSpec& out,
                                    const TensorSpec& out_grad);
SpmdRule TriangularSolveGradInferSpmd(const TensorSpec& x, const TensorSpec& y,
                                      const TensorSpec& out, const TensorSpec& out_grad);

/// The first tensor dim of the output holds sign and logarithm.
SpmdRule SlogDeterminantInferSpmd(const TensorSpec& x);
SpmdRule SlogDeterminantGradInferSpmd(const TensorSpec& x, const TensorSpec& out_grad);

SpmdRule EigvalshInferSpmd(const TensorSpec& x, bool is_test);
SpmdRule EigvalshGradInferSpmd(const TensorSpec& x, const TensorSpec* eigenvectors,
                               const TensorSpec& eigenvalues_grad);
SpmdRule EigGradInferSpmd(const TensorSpec& x, const TensorSpec& out_w, const TensorSpec& out_v,
                          const TensorSpec& out_w_grad, const TensorSpec& out_v_grad);
SpmdRule EighGradInferSpmd(const TensorSpec& out_w, const TensorSpec& out_v,
                           const TensorSpec& out_w_grad, const TensorSpec& out_v_grad);

SpmdRule LUUnpackInferSpmd(const TensorSpec& x, const TensorSpec& y, bool unpack_ludata,
                           bool unpack_pivots);
SpmdRule LUUnpackGradInferSpmd(const TensorSpec& x, const TensorSpec* l_grad,
                               const TensorSpec* u_grad);

/// q is empty in mode "r".
SpmdRule QrInferSpmd(const TensorSpec& x, const std::string& mode);
SpmdRule QrGradInferSpmd(const TensorSpec& x, const TensorSpec& q, const TensorSpec& r,
                         const TensorSpec& q_grad, const TensorSpec& r_grad,
                         const std::string& mode);
SpmdRule SvdGradInferSpmd(const TensorSpec& x, const TensorSpec& u, const TensorSpec& s,
                          const TensorSpec& vh, const TensorSpec& u_grad, const TensorSpec& s_grad,
                          const TensorSpec& vh_grad);

/// The tolerances broadcast along the batch.
SpmdRule MatrixRankAtolRtolInferSpmd(const TensorSpec& x, const TensorSpec& atol,
                                     const TensorSpec* rtol);

/// The axis of the vectors must be whole. Axis 9 means the first dim with extent 3.
SpmdRule CrossInferSpmd(const TensorSpec& x, const TensorSpec& y, int axis);
SpmdRule CrossGradInferSpmd(const TensorSpec& x, const TensorSpec& y, const TensorSpec& out_grad,
                            int axis);

}  // namespace phi::distributed
