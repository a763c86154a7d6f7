// Shape and dtype inference of linear algebra. Matrices are the last two tensor dims, and all other
// tensor dims are batch dims. Elements are float32, float64, complex64 or complex128.
//
//   const TensorMeta x{{8, 5, 3}, DataType::FLOAT32};
//   auto [u, s, vh] = SvdInferMeta(x, false);   // f32[8,5,3], f32[8,3], f32[8,3,3]
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "phi/core/meta.h"

namespace phi {

// Errors of all: InvalidArgument for a tensor of fewer than two tensor dims, for another dtype, and
// for matrices that must be square and are not.

/// Returns the meta of x, whose matrices are square.
TensorMeta SquareInferMeta(const TensorMeta& x);
/// One number per square matrix of x. slogdet returns two, along a new first tensor dim.
TensorMeta DeterminantInferMeta(const TensorMeta& x);
TensorMeta SlogDeterminantInferMeta(const TensorMeta& x);

/// (eigenvalues, eigenvectors). Both are complex for eig. For eigh, values are real and vectors
/// have x's meta. Errors: InvalidArgument for a `uplo` other than "L" and "U".
std::tuple<TensorMeta, TensorMeta> EigInferMeta(const TensorMeta& x);
TensorMeta EigvalsInferMeta(const TensorMeta& x);
std::tuple<TensorMeta, TensorMeta> EighInferMeta(const TensorMeta& x, const std::string& uplo);
/// (eigenvalues, eigenvectors). The vectors are for the gradient and are absent if `is_test`.
std::tuple<TensorMeta, std::optional<TensorMeta>> EigvalshInferMeta(const TensorMeta& x,
                                                                    const std::string& uplo,
                                                                    bool is_test);
/// Returns x's meta. Errors: InvalidArgument if the forward call ran with is_test, without vectors.
TensorMeta EigvalshGradInferMeta(const TensorMeta& x, const TensorMeta* eigenvectors);

/// The meta of x, with batch dims broadcast. x [*, n, k] are right-hand sides and y [*, n, n] are
/// factors. Errors: InvalidArgument if n or dtypes differ, or batch dims do not broadcast.
TensorMeta CholeskySolveInferMeta(const TensorMeta& x, const TensorMeta& y);
/// x [*, n, n] and y [*, n, k]. Errors: those of CholeskySolveInferMeta.
TensorMeta TriangularSolveInferMeta(const TensorMeta& x, const TensorMeta& y);
/// Like TriangularSolveInferMeta; y may also be one vector [n], or one vector per matrix of x.
TensorMeta SolveInferMeta(const TensorMeta& x, const TensorMeta& y);
/// Whether y is one vector for all matrices of x, or one vector per matrix.
bool solves_vectors(const Dims& x, const Dims& y);

/// (factors, pivots, info) of x [*, m, n]. The factors have x's meta. Pivots, int32 [*, min(m, n)],
/// are the row that each row was swapped with. info, int32 [*], is 0 if the diagonal of U has no
/// zero. Errors: InvalidArgument without `pivot`.
std::tuple<TensorMeta, TensorMeta, TensorMeta> LUInferMeta(const TensorMeta& x, bool pivot);
/// P [*, m, m], L [*, m, k] and U [*, k, n] with k = min(m, n), each if requested. Errors:
/// InvalidArgument unless y is int32 [*, k], like the pivots of x.
std::tuple<std::optional<TensorMeta>, std::optional<TensorMeta>, std::optional<TensorMeta>>
LUUnpackInferMeta(const TensorMeta& x, const TensorMeta& y, bool unpack_ludata, bool unpack_pivots);

/// (q, r) with k = min(m, n). "reduced": q [*, m, k] and r [*, k, n]. "complete": q [*, m, m] and r
/// [*, m, n]. "r": r [*, k, n] and an empty q. Errors: InvalidArgument for another mode.
std::tuple<TensorMeta, TensorMeta> QrInferMeta(const TensorMeta& x, const std::string& mode);
/// Errors: InvalidArgument for factors without a gradient: those of mode "r", and complete ones
/// with more rows than columns, because some columns of q are arbitrary.
TensorMeta QrGradInferMeta(const TensorMeta& x, const std::string& mode);

/// u [*, m, k], s [*, k] (real) and vh [*, k, n] with k = min(m, n). With `full_matrices`, u and vh
/// are square.
std::tuple<TensorMeta, TensorMeta, TensorMeta> SvdInferMeta(const TensorMeta& x,
                                                            bool full_matrices);
/// Errors: InvalidArgument for full matrices with vectors that have no singular value.
TensorMeta SvdGradInferMeta(const TensorMeta& x, bool full_matrices);
TensorMeta SvdvalsInferMeta(const TensorMeta& x);

/// One int64 per matrix. Errors: InvalidArgument for non-square matrices if `hermitian`, and for
/// tolerances that do not broadcast with x's batch dims.
TensorMeta MatrixRankInferMeta(const TensorMeta& x, bool hermitian);
TensorMeta MatrixRankTolInferMeta(const TensorMeta& x, const TensorMeta& atol_tensor,
                                  bool hermitian);
TensorMeta MatrixRankAtolRtolInferMeta(const TensorMeta& x, const TensorMeta& atol,
                                       const TensorMeta* rtol, bool hermitian);

/// (solution, residuals, rank, singular values) for x [*, m, n] and y [*, m, k].
///
/// - The solution is [*, n, k].
/// - The residuals are [*, k], or [0] if m <= n, a rank is less than n, or the driver is gelsy.
///   Their shape is unknown until the kernel has run.
/// - The ranks are int32 [*]; gels has none.
/// - The singular values are [*, min(m, n)], of gelsd and gelss only.
///
/// Errors: InvalidArgument if batch dims or m differ, and for another driver.
std::tuple<TensorMeta, TensorMeta, std::optional<TensorMeta>, std::optional<TensorMeta>>
LstsqInferMeta(const TensorMeta& x, const TensorMeta& y, const std::string& driver);

/// Returns the meta of x, which y shares. Errors: InvalidArgument for an axis whose extent is not
/// 3; OutOfRange for an axis outside x.
TensorMeta CrossInferMeta(const TensorMeta& x, const TensorMeta& y, int axis);
/// The axis of the vectors; 9 means the first one of extent 3. Errors: those of CrossInferMeta.
int cross_axis(const Dims& x, int axis);

}  // namespace phi
