// Shape and dtype inference of linear algebra. Matrices are the last two tensor dims, all others
// are a batch of them; elements are float32, float64, complex64 or complex128.
//
//   const TensorMeta x{{8, 5, 3}, DataType::FLOAT32};
//   auto [u, s, vh] = SvdInferMeta(x, false);   // f32[8,5,3], f32[8,3], f32[8,3,3]
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "phi/core/meta.h"

namespace phi {

// Errors of all of these: InvalidArgument for a tensor of fewer than two tensor dims, for another
// dtype, and for matrices that are not square where they have to be.

/// As x, whose matrices are square.
TensorMeta SquareInferMeta(const TensorMeta& x);
/// One number for each square matrix of x; slogdet gives two, in a new first tensor dim.
TensorMeta DeterminantInferMeta(const TensorMeta& x);
TensorMeta SlogDeterminantInferMeta(const TensorMeta& x);

/// Eigenvalues and vectors: complex for eig, for eigh real values and vectors as x. Errors:
/// InvalidArgument for a `uplo` that is neither "L" nor "U".
std::tuple<TensorMeta, TensorMeta> EigInferMeta(const TensorMeta& x);
TensorMeta EigvalsInferMeta(const TensorMeta& x);
std::tuple<TensorMeta, TensorMeta> EighInferMeta(const TensorMeta& x, const std::string& uplo);
/// Vectors are for the gradient: there are none with `is_test`.
std::tuple<TensorMeta, std::optional<TensorMeta>> EigvalshInferMeta(const TensorMeta& x,
                                                                    const std::string& uplo,
                                                                    bool is_test);
/// As x. Errors: InvalidArgument without the vectors that is_test leaves out.
TensorMeta EigvalshGradInferMeta(const TensorMeta& x, const TensorMeta* eigenvectors);

/// x [*, n, k] are right-hand sides and y [*, n, n] factors; batches broadcast. Errors:
/// InvalidArgument where n differs, batches do not broadcast or dtypes differ.
TensorMeta CholeskySolveInferMeta(const TensorMeta& x, const TensorMeta& y);
/// x [*, n, n] and y [*, n, k]. Errors: as above.
TensorMeta TriangularSolveInferMeta(const TensorMeta& x, const TensorMeta& y);
/// The same, or y is one vector [n], or one for each matrix of x.
TensorMeta SolveInferMeta(const TensorMeta& x, const TensorMeta& y);
/// y is one vector for each matrix of x, or for all of them.
bool solves_vectors(const Dims& x, const Dims& y);

/// Factors as x [*, m, n]; of min(m, n) rows each, which was swapped with it (int32); and for each
/// matrix, int32, 0 where U has no 0 on its diagonal. Errors: InvalidArgument without `pivot`.
std::tuple<TensorMeta, TensorMeta, TensorMeta> LUInferMeta(const TensorMeta& x, bool pivot);
/// P [*, m, m], L [*, m, k] and U [*, k, n], k = min(m, n), as far as they are asked for. Errors:
/// InvalidArgument for y that has not the pivots of x.
std::tuple<std::optional<TensorMeta>, std::optional<TensorMeta>, std::optional<TensorMeta>>
LUUnpackInferMeta(const TensorMeta& x, const TensorMeta& y, bool unpack_ludata, bool unpack_pivots);

/// "reduced": q [*, m, k] and r [*, k, n], k = min(m, n); "complete": q [*, m, m] and r [*, m, n];
/// "r": q is empty. Errors: InvalidArgument for another mode.
std::tuple<TensorMeta, TensorMeta> QrInferMeta(const TensorMeta& x, const std::string& mode);
/// Errors: InvalidArgument for factors that have no gradient: of mode "r", and "complete" ones of
/// more rows than columns, some of whose columns are any.
TensorMeta QrGradInferMeta(const TensorMeta& x, const std::string& mode);

/// u [*, m, k], s [*, k] (real) and vh [*, k, n], k = min(m, n); full matrices are square.
std::tuple<TensorMeta, TensorMeta, TensorMeta> SvdInferMeta(const TensorMeta& x,
                                                            bool full_matrices);
/// Errors: InvalidArgument for full matrices that have vectors without a singular value.
TensorMeta SvdGradInferMeta(const TensorMeta& x, bool full_matrices);
TensorMeta SvdvalsInferMeta(const TensorMeta& x);

/// An int64 for each matrix. Errors: InvalidArgument for matrices that are not square if they are
/// said to be Hermitian, and tolerances whose shape does not broadcast with x's batch.
TensorMeta MatrixRankInferMeta(const TensorMeta& x, bool hermitian);
TensorMeta MatrixRankTolInferMeta(const TensorMeta& x, const TensorMeta& atol_tensor,
                                  bool hermitian);
TensorMeta MatrixRankAtolRtolInferMeta(const TensorMeta& x, const TensorMeta& atol,
                                       const TensorMeta* rtol, bool hermitian);

/// x [*, m, n] and y [*, m, k] give the solution [*, n, k], its residuals, known when it is found:
/// [*, k], or [0] where m <= n, a rank is less than n, or the driver is gelsy; the ranks [*]
/// (int32, none of gels) and singular values [*, min(m, n)] (of gelsd and gelss). Errors:
/// InvalidArgument for batches or m that differ, and another driver.
std::tuple<TensorMeta, TensorMeta, std::optional<TensorMeta>, std::optional<TensorMeta>>
LstsqInferMeta(const TensorMeta& x, const TensorMeta& y, const std::string& driver);

/// As x and y, which are of one shape. Errors: InvalidArgument for an axis whose extent is not 3,
/// OutOfRange for one that there is not.
TensorMeta CrossInferMeta(const TensorMeta& x, const TensorMeta& y, int axis);
/// The axis of the vectors: 9 stands for the first whose extent is 3. Errors: as above.
int cross_axis(const Dims& x, int axis);

}  // namespace phi
