// Shape and dtype inference of linear algebra.
#include "phi/infermeta/linalg.h"

#include <algorithm>

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"

namespace phi {
namespace {

void check_matrices(const TensorMeta& x, const char* name = "x") {
  PHI_CHECK(
      x.dims.ndim() >= 2,
      errors::InvalidArgument("{} is {}, but matrices need 2 tensor dims or more; reshape it.",
                              name, x.to_string()));
  PHI_CHECK(x.dtype == DataType::FLOAT32 || x.dtype == DataType::FLOAT64 || is_complex(x.dtype),
            errors::InvalidArgument("{} is {}, but linear algebra supports float32, float64, "
                                    "complex64 and complex128; cast it to one of them.",
                                    name, x.to_string()));
}

int64_t rows(const TensorMeta& x) { return x.dims[x.dims.ndim() - 2]; }
int64_t columns(const TensorMeta& x) { return x.dims.back(); }

void check_square(const TensorMeta& x, const char* name = "x") {
  check_matrices(x, name);
  PHI_CHECK(rows(x) == columns(x),
            errors::InvalidArgument("{} is {}, but its last two tensor dims must be equal: the "
                                    "matrices have to be square.",
                                    name, x.to_string()));
}

void check_linalg_dtypes(const TensorMeta& x, const TensorMeta& y, const char* y_name = "y") {
  PHI_CHECK(x.dtype == y.dtype,
            errors::InvalidArgument("x is {} and {} is {}, but both need the same dtype; cast one "
                                    "of them.",
                                    x.to_string(), y_name, y.to_string()));
}

Dims batch_of(const Dims& dims) { return Dims(std::span(dims.begin(), dims.end() - 2)); }

TensorMeta with(const TensorMeta& x, Dims dims, std::initializer_list<int64_t> more) {
  for (int64_t extent : more) dims.push_back(extent);
  return {dims, x.dtype, x.layout};
}
/// x with the extents `last` in place of its last two tensor dims.
TensorMeta matrices(const TensorMeta& x, std::initializer_list<int64_t> last) {
  return with(x, batch_of(x.dims), last);
}
TensorMeta in_dtype(TensorMeta x, DataType dtype) {
  x.dtype = dtype;
  return x;
}
/// Like `matrices`, in the real dtype of x.
TensorMeta values(const TensorMeta& x, std::initializer_list<int64_t> last) {
  return in_dtype(matrices(x, last), real_part_of(x.dtype));
}

/// The solution [*, n, k] of a x = b, for a [*, n, n] and b [*, n, k].
TensorMeta solution(const TensorMeta& a, const char* a_name, const TensorMeta& b,
                    const char* b_name) {
  check_square(a, a_name);
  check_matrices(b, b_name);
  PHI_CHECK(a.dtype == b.dtype, errors::InvalidArgument("x and y have dtypes {} and {}, but a "
                                                        "system has one; cast one of them.",
                                                        name_of(a.dtype), name_of(b.dtype)));
  PHI_CHECK(rows(a) == rows(b),
            errors::InvalidArgument("{} is {} and {} is {}: a system of {} equations needs "
                                    "right-hand sides of {} rows, not {}.",
                                    a_name, a.to_string(), b_name, b.to_string(), rows(a), rows(a),
                                    rows(b)));
  const Dims batch = broadcast_dims(batch_of(a.dims), batch_of(b.dims), a_name, b_name);
  return with(b, batch, {rows(b), columns(b)});
}

void check_triangle(const std::string& uplo) {
  PHI_CHECK(
      uplo == "L" || uplo == "U",
      errors::InvalidArgument("the triangle to read is '{}', but it must be 'L' or 'U'.", uplo));
}

TensorMeta ranks(const TensorMeta& x, bool hermitian) {
  hermitian ? check_square(x) : check_matrices(x);
  return in_dtype(matrices(x, {}), DataType::INT64);
}

}  // namespace

TensorMeta SquareInferMeta(const TensorMeta& x) {
  check_square(x);
  return x;
}
TensorMeta DeterminantInferMeta(const TensorMeta& x) {
  check_square(x);
  return matrices(x, {});
}
TensorMeta SlogDeterminantInferMeta(const TensorMeta& x) {
  check_square(x);
  Dims dims{2};
  for (int64_t extent : batch_of(x.dims)) dims.push_back(extent);
  return {dims, x.dtype, x.layout};
}

std::tuple<TensorMeta, TensorMeta> EigInferMeta(const TensorMeta& x) {
  const TensorMeta w = EigvalsInferMeta(x);
  return {w, in_dtype(x, w.dtype)};
}
TensorMeta EigvalsInferMeta(const TensorMeta& x) {
  check_square(x);
  return in_dtype(matrices(x, {rows(x)}), complex_of(x.dtype));
}
std::tuple<TensorMeta, TensorMeta> EighInferMeta(const TensorMeta& x, const std::string& uplo) {
  check_square(x);
  check_triangle(uplo);
  return {values(x, {rows(x)}), x};
}
std::tuple<TensorMeta, std::optional<TensorMeta>> EigvalshInferMeta(const TensorMeta& x,
                                                                    const std::string& uplo,
                                                                    bool is_test) {
  const auto [w, v] = EighInferMeta(x, uplo);
  return {w, is_test ? std::nullopt : std::optional(v)};
}
TensorMeta EigvalshGradInferMeta(const TensorMeta& x, const TensorMeta* eigenvectors) {
  PHI_CHECK(eigenvectors != nullptr,
            errors::InvalidArgument("eigenvalues of x {} were computed with is_test, without the "
                                    "vectors that their gradient needs; omit is_test.",
                                    x.to_string()));
  return x;
}

TensorMeta CholeskySolveInferMeta(const TensorMeta& x, const TensorMeta& y) {
  return solution(y, "y", x, "x");
}
TensorMeta TriangularSolveInferMeta(const TensorMeta& x, const TensorMeta& y) {
  return solution(x, "x", y, "y");
}

bool solves_vectors(const Dims& x, const Dims& y) {
  return y.ndim() == 1 || y == Dims(std::span(x.begin(), x.end() - 1));
}

TensorMeta SolveInferMeta(const TensorMeta& x, const TensorMeta& y) {
  check_square(x);
  if (!solves_vectors(x.dims, y.dims)) return solution(x, "x", y, "y");
  Dims column = y.dims;
  column.push_back(1);
  TensorMeta out = solution(x, "x", {column, y.dtype, y.layout}, "y as columns");
  out.dims = Dims(std::span(out.dims.begin(), out.dims.end() - 1));
  return out;
}

std::tuple<TensorMeta, TensorMeta, TensorMeta> LUInferMeta(const TensorMeta& x, bool pivot) {
  check_matrices(x);
  PHI_CHECK(pivot,
            errors::InvalidArgument("pivot is false, but the factorisation supports pivoting only, "
                                    "without which many matrices have no factors."));
  const int64_t k = std::min(rows(x), columns(x));
  return {x, in_dtype(matrices(x, {k}), DataType::INT32),
          in_dtype(matrices(x, {}), DataType::INT32)};
}

std::tuple<std::optional<TensorMeta>, std::optional<TensorMeta>, std::optional<TensorMeta>>
LUUnpackInferMeta(const TensorMeta& x, const TensorMeta& y, bool unpack_ludata,
                  bool unpack_pivots) {
  check_matrices(x);
  const int64_t m = rows(x), n = columns(x), k = std::min(m, n);
  PHI_CHECK(y.dims == matrices(x, {k}).dims && y.dtype == DataType::INT32,
            errors::InvalidArgument(
                "x is {} and y is {}, but the pivots of these factors must be int32 of shape {}.",
                x.to_string(), y.to_string(), matrices(x, {k}).dims.to_string()));
  const auto when = [&](bool wanted, int64_t first, int64_t second) {
    return wanted ? std::optional(matrices(x, {first, second})) : std::nullopt;
  };
  return {when(unpack_pivots, m, m), when(unpack_ludata, m, k), when(unpack_ludata, k, n)};
}

std::tuple<TensorMeta, TensorMeta> QrInferMeta(const TensorMeta& x, const std::string& mode) {
  check_matrices(x);
  const int64_t m = rows(x), n = columns(x), k = std::min(m, n);
  if (mode == "reduced") return {matrices(x, {m, k}), matrices(x, {k, n})};
  if (mode == "complete") return {matrices(x, {m, m}), x};
  PHI_CHECK(mode == "r", errors::InvalidArgument(
                             "mode is '{}', but it must be 'reduced', 'complete' or 'r'.", mode));
  return {with(x, {}, {0}), matrices(x, {k, n})};
}

TensorMeta QrGradInferMeta(const TensorMeta& x, const std::string& mode) {
  const bool any_columns = mode == "complete" && rows(x) > columns(x);
  PHI_CHECK(mode != "r" && !any_columns,
            errors::InvalidArgument("mode '{}' has no gradient for x {}, whose q is not computed "
                                    "or not determined by x; use mode 'reduced'.",
                                    mode, x.to_string()));
  return x;
}

std::tuple<TensorMeta, TensorMeta, TensorMeta> SvdInferMeta(const TensorMeta& x,
                                                            bool full_matrices) {
  check_matrices(x);
  const int64_t m = rows(x), n = columns(x), k = std::min(m, n);
  return {matrices(x, {m, full_matrices ? m : k}), values(x, {k}),
          matrices(x, {full_matrices ? n : k, n})};
}

TensorMeta SvdGradInferMeta(const TensorMeta& x, bool full_matrices) {
  PHI_CHECK(!full_matrices || rows(x) == columns(x),
            errors::InvalidArgument("full matrices have no gradient for x {}: vectors without a "
                                    "singular value are arbitrary; set full_matrices to false.",
                                    x.to_string()));
  return x;
}

TensorMeta SvdvalsInferMeta(const TensorMeta& x) {
  check_matrices(x);
  return values(x, {std::min(rows(x), columns(x))});
}

TensorMeta MatrixRankInferMeta(const TensorMeta& x, bool hermitian) { return ranks(x, hermitian); }
TensorMeta MatrixRankTolInferMeta(const TensorMeta& x, const TensorMeta& atol_tensor,
                                  bool hermitian) {
  TensorMeta out = ranks(x, hermitian);
  out.dims = broadcast_dims(out.dims, atol_tensor.dims, "x's batch", "the tolerance");
  return out;
}
TensorMeta MatrixRankAtolRtolInferMeta(const TensorMeta& x, const TensorMeta& atol,
                                       const TensorMeta* rtol, bool hermitian) {
  TensorMeta out = MatrixRankTolInferMeta(x, atol, hermitian);
  if (rtol) out.dims = broadcast_dims(out.dims, rtol->dims, "x's batch", "rtol");
  return out;
}

std::tuple<TensorMeta, TensorMeta, std::optional<TensorMeta>, std::optional<TensorMeta>>
LstsqInferMeta(const TensorMeta& x, const TensorMeta& y, const std::string& driver) {
  check_matrices(x);
  check_matrices(y, "y");
  check_linalg_dtypes(x, y);
  PHI_CHECK(batch_of(x.dims) == batch_of(y.dims) && rows(x) == rows(y),
            errors::InvalidArgument("x is {} and y is {}, but all their tensor dims except the "
                                    "last must be equal: a right-hand side for each equation.",
                                    x.to_string(), y.to_string()));
  PHI_CHECK(driver == "gels" || driver == "gelsy" || driver == "gelsd" || driver == "gelss",
            errors::InvalidArgument("driver is '{}', but it must be 'gels', 'gelsy', 'gelsd' or "
                                    "'gelss'.",
                                    driver));
  const int64_t m = rows(x), n = columns(x);
  const bool never = m <= n || driver == "gelsy";
  TensorMeta residuals = never ? with(x, {}, {0}) : matrices(x, {columns(y)});
  if (!never) residuals.dims = Dims::filled(residuals.dims.ndim(), kUnknownDim);
  std::optional<TensorMeta> rank, singular_values;
  if (driver != "gels") rank = in_dtype(matrices(x, {}), DataType::INT32);
  if (driver == "gelsd" || driver == "gelss") singular_values = values(x, {std::min(m, n)});
  return {matrices(x, {n, columns(y)}), in_dtype(residuals, real_part_of(x.dtype)), rank,
          singular_values};
}

int cross_axis(const Dims& x, int axis) {
  constexpr int kFirstOfThree = 9;
  if (axis == kFirstOfThree) {
    const auto at = static_cast<int>(std::find(x.begin(), x.end(), 3) - x.begin());
    PHI_CHECK(at < x.ndim(), errors::InvalidArgument("no tensor dim of x {} has extent 3, but "
                                                     "vectors of a cross product have 3 elements.",
                                                     x.to_string()));
    return at;
  }
  const int at = normalise_axis(axis, x.ndim(), x);
  PHI_CHECK(x[at] == 3, errors::InvalidArgument("tensor dim {} of x {} has extent {}, but vectors "
                                                "of a cross product have 3 elements.",
                                                at, x.to_string(), x[at]));
  return at;
}

TensorMeta CrossInferMeta(const TensorMeta& x, const TensorMeta& y, int axis) {
  check_linalg_dtypes(x, y);
  PHI_CHECK(x.dims == y.dims,
            errors::InvalidArgument("x is {} and y is {}, but a cross product needs the same shape "
                                    "of both; expand one of them.",
                                    x.to_string(), y.to_string()));
  cross_axis(x.dims, axis);
  return x;
}

}  // namespace phi
