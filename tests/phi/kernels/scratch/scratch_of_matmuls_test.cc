// The scratch memory that matmuls state is what they obtain.
#include "phi/generated/kernels/bilinear.h"
#include "phi/generated/kernels/matmul.h"
#include "phi/generated/kernels/quantized.h"
#include "tests/phi/kernels/scratch/check_scratch.h"

namespace phi::testing {
namespace {

template <typename T>
void check_matmuls(std::mt19937& random, int64_t most) {
  const bool trans_x = flip(random), trans_y = flip(random);
  const int64_t batch = draw(random, 1, 3), y_batch = flip(random) ? 1 : batch;
  const int64_t m = draw(random, 1, most), n = draw(random, 1, most), k = draw(random, 1, most);
  const DenseTensor x = zeros<T>(trans_x ? Dims{batch, k, m} : Dims{batch, m, k});
  const DenseTensor y = zeros<T>(trans_y ? Dims{y_batch, n, k} : Dims{y_batch, k, n});
  DenseTensor out = zeros<T>({batch, m, n});
  DenseTensor x_grad = zeros<T>(x.dims()), y_grad = zeros<T>(y.dims());
  check_kernel<kernels::matmul, T>(x, y, trans_x, trans_y, &out);
  for (const bool wants_x : {false, true}) {
    check_kernel<kernels::matmul_grad, T>(x, y, out, trans_x, trans_y, wants_x ? &x_grad : nullptr,
                                          &y_grad);
  }
}

TEST(ScratchOfMatmuls, IsWhatIsStated) {
  std::mt19937 random(7);
  for (const int64_t most : {4, 30, 300, 300}) {
    check_matmuls<bfloat16>(random, most);
    check_matmuls<float16>(random, most);
  }
}

template <typename T>
void check_addmms(std::mt19937& random, int64_t most) {
  const int64_t m = draw(random, 1, most), n = draw(random, 1, most), k = draw(random, 1, most);
  const float alpha = draw(random, 0, 3) == 0 ? 0.0f : 2.0f;
  const DenseTensor x = zeros<T>({m, k}), y = zeros<T>({k, n}), input = zeros<T>({n});
  DenseTensor out = zeros<T>({m, n});
  check_kernel<kernels::addmm, T>(input, x, y, 1.0f, alpha, &out);
  DenseTensor input_grad = zeros<T>({n}), x_grad = zeros<T>({m, k}), y_grad = zeros<T>({k, n});
  for (const bool wants_x : {false, true}) {
    check_kernel<kernels::addmm_grad, T>(x, y, out, 1.0f, alpha, &input_grad,
                                         wants_x ? &x_grad : nullptr, &y_grad);
  }
}

TEST(ScratchOfAddmms, IsWhatIsStated) {
  std::mt19937 random(8);
  for (const int64_t most : {4, 30, 300, 300}) {
    SCOPED_TRACE(most);
    check_addmms<bfloat16>(random, most);
    check_addmms<float16>(random, most);
  }
}

template <typename Tensor>
std::vector<Tensor*> pointers(std::vector<DenseTensor>& arrays) {
  std::vector<Tensor*> all;
  for (DenseTensor& each : arrays) all.push_back(&each);
  return all;
}

template <typename T>
std::vector<DenseTensor> all_zeros(const std::vector<Dims>& dims) {
  std::vector<DenseTensor> arrays;
  for (const Dims& each : dims) arrays.push_back(zeros<T>(each));
  return arrays;
}

/// Checks einsum and the gradients of a random choice of its operands, in letters of random
/// extents.
template <typename T>
void check_einsum(const std::vector<std::string>& operands, const std::string& out_letters,
                  std::mt19937& random) {
  std::map<char, int64_t> extents;
  const auto dims_of = [&](const std::string& letters) {
    Dims dims;
    for (const char letter : letters)
      dims.push_back(extents.try_emplace(letter, draw(random, 1, 20)).first->second);
    return dims;
  };
  std::string equation;
  std::vector<Dims> dims;
  for (const std::string& letters : operands) {
    equation += (equation.empty() ? "" : ",") + letters;
    dims.push_back(dims_of(letters));
  }
  equation += "->" + out_letters;
  SCOPED_TRACE(equation);
  std::vector<DenseTensor> x = all_zeros<T>(dims), x_grad = all_zeros<T>(dims);
  DenseTensor out = zeros<T>(dims_of(out_letters));
  check_kernel<kernels::einsum, T>(pointers<const DenseTensor>(x), equation, &out);
  std::vector<DenseTensor*> wanted = pointers<DenseTensor>(x_grad);
  if (flip(random)) wanted[static_cast<size_t>(draw(random, 0, std::ssize(x) - 1))] = nullptr;
  check_kernel<kernels::einsum_grad, T>(pointers<const DenseTensor>(x), out, equation, wanted);
}

/// Sums, diagonals, transposed matrices, outer products, and chains of operands.
template <typename T>
void check_einsums(std::mt19937& random) {
  check_einsum<T>({"ij", "jk"}, "ik", random);
  check_einsum<T>({"bij", "kbj"}, "kib", random);
  check_einsum<T>({"bshd", "bthd"}, "bhst", random);
  check_einsum<T>({"ijk"}, "kj", random);
  check_einsum<T>({"iij", "jl"}, "il", random);
  check_einsum<T>({"ijx", "jky", "kl"}, "li", random);
  check_einsum<T>({"i", "j"}, "ji", random);
}

TEST(ScratchOfEinsums, IsWhatIsStated) {
  std::mt19937 random(5);
  for (int i = 0; i < 6; ++i) {
    check_einsums<bfloat16>(random);
    check_einsums<float16>(random);
    check_einsums<float>(random);
    check_einsums<complex64>(random);
  }
}

template <typename T>
void check_chain(int64_t factors, std::mt19937& random) {
  std::vector<Dims> dims;
  int64_t rows = draw(random, 1, 100);
  const int64_t first = rows;
  for (int64_t i = 0; i < factors; ++i) {
    const int64_t columns = draw(random, 1, 100);
    dims.push_back({rows, columns});
    rows = columns;
  }
  std::vector<DenseTensor> x = all_zeros<T>(dims), x_grad = all_zeros<T>(dims);
  DenseTensor out = zeros<T>({first, rows});
  check_kernel<kernels::multi_dot, T>(pointers<const DenseTensor>(x), &out);
  std::vector<DenseTensor*> wanted = pointers<DenseTensor>(x_grad);
  if (flip(random)) wanted.back() = nullptr;
  check_kernel<kernels::multi_dot_grad, T>(pointers<const DenseTensor>(x), out, wanted);
}

TEST(ScratchOfChains, IsWhatIsStated) {
  std::mt19937 random(6);
  for (const int64_t factors : {2, 3, 4, 6}) {
    SCOPED_TRACE(factors);
    check_chain<bfloat16>(factors, random);
    check_chain<float16>(factors, random);
    check_chain<double>(factors, random);
  }
}

template <typename T>
void check_bilinear(std::mt19937& random) {
  const int64_t n = draw(random, 1, 60), i = draw(random, 1, 60), j = draw(random, 1, 60);
  const int64_t k = draw(random, 1, 4);
  const DenseTensor x = zeros<T>({n, i}), y = zeros<T>({n, j}), weight = zeros<T>({k, i, j});
  const DenseTensor bias = zeros<T>({1, k});
  DenseTensor out = zeros<T>({n, k});
  check_kernel<kernels::bilinear, T>(x, y, weight, &bias, &out);
  DenseTensor x_grad = zeros<T>({n, i}), y_grad = zeros<T>({n, j});
  DenseTensor weight_grad = zeros<T>({k, i, j}), bias_grad = zeros<T>({1, k});
  check_kernel<kernels::bilinear_grad, T>(x, y, weight, out, &x_grad, &y_grad, &weight_grad,
                                          &bias_grad);
}

TEST(ScratchOfBilinear, IsNone) {
  std::mt19937 random(1);
  check_bilinear<bfloat16>(random);
  check_bilinear<float16>(random);
}

template <typename T>
void check_weight_only(int64_t rows, std::mt19937& random) {
  const int64_t n = draw(random, 1, 300), k = 64 * draw(random, 1, 8);
  const int group = static_cast<int>(draw(random, -1, 2) * 64);
  const int group_size = group <= 0 ? -1 : group;
  const int64_t groups = group_size == -1 ? 1 : (k + group_size - 1) / group_size;
  const DenseTensor x = zeros<T>({rows, k}), bias = zeros<T>({n});
  const DenseTensor weight = zeros<int8_t>({n, k});
  const DenseTensor scale = zeros<accumulator_t<T>>(group_size == -1 ? Dims{n} : Dims{groups, n});
  DenseTensor out = zeros<T>({rows, n}), x_grad = zeros<T>({rows, k});
  check_kernel<kernels::weight_only_linear, T>(x, weight, &bias, scale, group_size, &out);
  check_kernel<kernels::weight_only_linear_grad, T>(weight, scale, out, group_size, &x_grad);
}

TEST(ScratchOfWeightOnlyMatmuls, IsWhatIsStated) {
  std::mt19937 random(2);
  for (const int64_t rows : {1, 15, 40, 300}) {
    SCOPED_TRACE(rows);
    for (int i = 0; i < 3; ++i) {
      check_weight_only<bfloat16>(rows, random);
      check_weight_only<float16>(rows, random);
    }
  }
}

}  // namespace
}  // namespace phi::testing
