// cuBLASLt's products are those of plain loops, run in the order of the stream, and what does not
// fit is refused.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>

#include "cuda_on_cpu/session.h"

namespace cuda_on_cpu_test {
namespace {

#define EXPECT_STATUS(wanted, call) \
  EXPECT_STREQ(cublasLtGetStatusName(wanted), cublasLtGetStatusName(call))
#define EXPECT_FITS(call) EXPECT_STATUS(CUBLAS_STATUS_SUCCESS, call)

template <class T>
constexpr cudaDataType kType = std::is_same_v<T, double>   ? CUDA_R_64F
                               : std::is_same_v<T, float>  ? CUDA_R_32F
                               : std::is_same_v<T, __half> ? CUDA_R_16F
                                                           : CUDA_R_16BF;

// d = alpha op(a) op(b) + beta d, with descriptors that a test may change before it runs.
template <class In, class Out = In>
struct Product {
  using Scale = std::conditional_t<std::is_same_v<In, double>, double, float>;

  Product(int m, int n, int k, bool ta = false, bool tb = false, int batches = 1,
          cublasComputeType_t compute = std::is_same_v<In, double> ? CUBLAS_COMPUTE_64F
                                                                   : CUBLAS_COMPUTE_32F)
      : m(m), n(n), k(k), ta(ta), tb(tb), batches(batches) {
    EXPECT_FITS(cublasLtCreate(&handle));
    EXPECT_FITS(cublasLtMatmulDescCreate(&description, compute, kType<Scale>));
    const int32_t transposed = CUBLAS_OP_T;
    if (ta) set(CUBLASLT_MATMUL_DESC_TRANSA, transposed);
    if (tb) set(CUBLASLT_MATMUL_DESC_TRANSB, transposed);
    layout(a, kType<In>, ta ? k : m, ta ? m : k);
    layout(b, kType<In>, tb ? n : k, tb ? k : n);
    layout(d, kType<Out>, m, n);
    EXPECT_FITS(cublasLtMatmulPreferenceCreate(&preference));
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{kWorkspace});
    if (batches > 1) align_as_elements();
  }
  ~Product() {
    cublasLtMatmulPreferenceDestroy(preference);
    for (const auto each : {a, b, d}) cublasLtMatrixLayoutDestroy(each);
    cublasLtMatmulDescDestroy(description);
    cublasLtDestroy(handle);
  }
  Product(const Product&) = delete;

  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, T value) {
    EXPECT_FITS(cublasLtMatmulDescSetAttribute(description, attribute, &value, sizeof value));
  }
  template <class T>
  void prefer(cublasLtMatmulPreferenceAttributes_t attribute, T value) {
    EXPECT_FITS(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value));
  }
  // All that members behind each other have.
  void align_as_elements() {
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, uint32_t{sizeof(In)});
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, uint32_t{sizeof(In)});
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, uint32_t{sizeof(Out)});
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, uint32_t{sizeof(Out)});
  }
  void layout(cublasLtMatrixLayout_t& made, cudaDataType type, int rows, int columns) {
    const int64_t stride = static_cast<int64_t>(rows) * columns;
    EXPECT_FITS(cublasLtMatrixLayoutCreate(&made, type, rows, columns, rows));
    EXPECT_FITS(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batches,
                                                 sizeof batches));
    EXPECT_FITS(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                 &stride, sizeof stride));
  }

  cublasStatus_t plan() {
    int found = 0;
    return cublasLtMatmulAlgoGetHeuristic(handle, description, a, b, d, d, preference, 1, &result,
                                          &found);
  }
  cublasStatus_t run(Session& gpu, const In* left, const In* right, Out* out, void* workspace,
                     size_t size = kWorkspace) {
    return cublasLtMatmul(handle, description, &alpha, left, a, right, b, &beta, out, d, out, d,
                          &result.algo, workspace, size, gpu.stream);
  }

  // Runs it and compares with loops in double; the values are multiples of 1/64.
  void check(double tolerance) {
    Session gpu;
    const auto left = values<In>(m * k * batches, 1);
    const auto right = values<In>(k * n * batches, 2);
    const auto before = values<Out>(m * n * batches, 3);
    Out* out = gpu.upload(before);
    EXPECT_FITS(plan());
    EXPECT_FITS(
        run(gpu, gpu.upload(left), gpu.upload(right), out, gpu.allocate<std::byte>(kWorkspace)));
    const auto after = gpu.download(out, before.size());
    for (int batch = 0; batch < batches; ++batch) {
      for (int row = 0; row < m; ++row) {
        for (int column = 0; column < n; ++column) {
          double sum = 0;
          for (int i = 0; i < k; ++i) {
            const int at_a = batch * m * k + (ta ? row * k + i : i * m + row);
            const int at_b = batch * k * n + (tb ? i * n + column : column * k + i);
            sum += number(left[at_a]) * number(right[at_b]);
          }
          const int at = batch * m * n + column * m + row;
          const double expected = alpha * sum + (beta == 0 ? 0 : beta * number(before[at]));
          ASSERT_NEAR(number(after[at]), expected, tolerance) << row << " " << column;
        }
      }
    }
  }

  template <class T>
  static double number(T value) {
    if constexpr (std::is_same_v<T, double>) return value;
    return static_cast<float>(value);
  }
  template <class T>
  static std::vector<T> values(size_t size, int salt) {
    std::vector<T> made(size);
    for (size_t i = 0; i < size; ++i) {
      const auto number = static_cast<int>((i * 37 + static_cast<size_t>(salt) * 11) % 129) - 64;
      made[i] = static_cast<T>(static_cast<float>(number) / 64.0f);
    }
    return made;
  }

  static constexpr size_t kWorkspace = size_t{4} << 20;
  int m, n, k;
  bool ta, tb;
  int32_t batches;
  Scale alpha = 1;
  Scale beta = 0;
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t description = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, d = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulHeuristicResult_t result{};
};

template <class T>
class Products : public ::testing::Test {};
using Types = ::testing::Types<double, float, __half, __nv_bfloat16>;
TYPED_TEST_SUITE(Products, Types);

TYPED_TEST(Products, AllTransposesBatchesAndScales) {
  const double tolerance = std::is_same_v<TypeParam, double>  ? 1e-12
                           : std::is_same_v<TypeParam, float> ? 1e-5
                                                              : 0.1;
  for (const int transposes : {0, 1, 2, 3}) {
    Product<TypeParam> product(7, 5, 9, (transposes & 1) != 0, (transposes & 2) != 0, 3);
    product.check(tolerance);
    product.alpha = 0.5;
    product.beta = -2;
    product.check(tolerance);
  }
}

TEST(CublasLt, FloatResultsOf16Bits) {
  Product<__half, float>(8, 8, 8).check(1e-5);
  Product<__nv_bfloat16, float>(8, 8, 8).check(1e-5);
}

// 1 + 2^-8 is rounded to 1 in bfloat16.
TEST(CublasLt, HalvesOf16BitSumsAreRoundedApartUnlessThatIsRuledOut) {
  const auto sum_of = [](uint32_t schemes) {
    Session gpu;
    Product<__nv_bfloat16> product(1, 1, 4);
    product.prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, schemes);
    EXPECT_FITS(product.plan());
    const auto upload = [&](std::initializer_list<float> values) {
      return gpu.upload(std::vector<__nv_bfloat16>(values.begin(), values.end()));
    };
    __nv_bfloat16* out = gpu.allocate<__nv_bfloat16>(1);
    EXPECT_FITS(product.run(gpu, upload({1, 0x1p-8f, -1, 0}), upload({1, 1, 1, 1}), out,
                            gpu.allocate<std::byte>(product.kWorkspace)));
    return static_cast<float>(gpu.download(out, 1)[0]);
  };
  EXPECT_EQ(sum_of(CUBLASLT_REDUCTION_SCHEME_MASK), 0);
  EXPECT_EQ(sum_of(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE), 0x1p-8f);
}

TEST(CublasLt, Tf32IsLessPreciseThanFloat) {
  const auto error_of = [](cublasComputeType_t compute) {
    Session gpu;
    Product<float> product(1, 1, 1, false, false, 1, compute);
    EXPECT_FITS(product.plan());
    float* x = gpu.upload(std::vector<float>{1.0f + 0x1p-20f});
    float* out = gpu.allocate<float>(1);
    EXPECT_FITS(product.run(gpu, x, x, out, gpu.allocate<std::byte>(product.kWorkspace)));
    return std::fabs(gpu.download(out, 1)[0] - 1.0f - 0x1p-19f);
  };
  EXPECT_LT(error_of(CUBLAS_COMPUTE_32F), 1e-7);
  EXPECT_GT(error_of(CUBLAS_COMPUTE_32F_FAST_TF32), 1e-6);
}

TEST(CublasLt, WhatDoesNotFitIsRefused) {
  const auto invalid = CUBLAS_STATUS_INVALID_VALUE;
  const auto unsupported = CUBLAS_STATUS_NOT_SUPPORTED;
  const auto refused = [](cublasStatus_t status, auto change) {
    Product<float> product(8, 8, 8);
    change(product);
    EXPECT_STATUS(status, product.plan());
  };
  const auto set_b = [](cublasLtMatrixLayoutAttribute_t attribute, auto value) {
    return [=](Product<float>& product) {
      EXPECT_FITS(cublasLtMatrixLayoutSetAttribute(product.b, attribute, &value, sizeof value));
    };
  };
  refused(invalid, set_b(CUBLASLT_MATRIX_LAYOUT_ROWS, uint64_t{7}));
  refused(invalid, set_b(CUBLASLT_MATRIX_LAYOUT_COLS, uint64_t{0}));
  refused(invalid, set_b(CUBLASLT_MATRIX_LAYOUT_LD, int64_t{7}));
  refused(invalid, set_b(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t{2}));
  refused(unsupported, set_b(CUBLASLT_MATRIX_LAYOUT_ORDER, int32_t{CUBLASLT_ORDER_ROW}));
  refused(unsupported, [](Product<float>& product) {
    product.set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t{CUBLASLT_EPILOGUE_RELU});
  });
  refused(CUBLAS_STATUS_SUCCESS, [](Product<float>&) {});
  Product<double> wrong_sums(8, 8, 8, false, false, 1, CUBLAS_COMPUTE_32F);
  EXPECT_STATUS(unsupported, wrong_sums.plan());
}

TEST(CublasLt, MatricesAndWorkspaceAreAsPromised) {
  Session gpu;
  const auto invalid = CUBLAS_STATUS_INVALID_VALUE;
  Product<float> product(8, 8, 8);
  EXPECT_FITS(product.plan());
  EXPECT_EQ(product.result.workspaceSize, size_t{1} << 20);
  float* x = gpu.allocate<float>(1000);
  float* out = gpu.allocate<float>(128);
  auto* workspace = gpu.allocate<std::byte>(product.kWorkspace);
  EXPECT_FITS(product.run(gpu, x, x, out, workspace));
  EXPECT_FITS(product.run(gpu, x, x + 64, out, workspace, size_t{1} << 20));
  EXPECT_STATUS(invalid, product.run(gpu, x + 4, x, out, workspace));    // 256 bytes were promised
  EXPECT_STATUS(invalid, product.run(gpu, x, x + 960, out, workspace));  // ends behind the array
  EXPECT_STATUS(invalid, product.run(gpu, x, x, out, workspace, (size_t{1} << 20) - 1));
  EXPECT_STATUS(invalid, product.run(gpu, x, x, out, workspace + 8));
  const std::vector<float> host(64);
  EXPECT_STATUS(invalid, product.run(gpu, host.data(), x, out, workspace));
  product.prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, uint32_t{16});
  EXPECT_FITS(product.plan());
  EXPECT_FITS(product.run(gpu, x + 4, x, out, workspace));
  Product<float> members(8, 5, 8, false, false, 2);
  EXPECT_FITS(members.plan());
  EXPECT_FITS(members.run(gpu, x, x, out, workspace));
  members.prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, uint32_t{256});
  EXPECT_FITS(members.plan());
  EXPECT_STATUS(invalid, members.run(gpu, x, x, out, workspace));  // the second is not aligned
  Product<float> other(8, 8, 16);
  EXPECT_FITS(other.plan());
  other.result = product.result;
  EXPECT_STATUS(invalid, other.run(gpu, x, x, out, workspace));  // another problem's algorithm
}

TEST(CublasLt, RunsInTheOrderOfTheStreamAndSpoilsTheWorkspace) {
  Session gpu;
  Product<float> product(1, 1, 1);
  EXPECT_FITS(product.plan());
  float* x = gpu.upload(std::vector<float>{3});
  auto* workspace = reinterpret_cast<float*>(gpu.allocate<std::byte>(product.kWorkspace));
  EXPECT_WORKS(cudaMemsetAsync(workspace, 0, 4, gpu.stream));
  float* out = gpu.upload(std::vector<float>{0});
  EXPECT_FITS(product.run(gpu, x, x, out, workspace));
  EXPECT_WORKS(cudaMemsetAsync(x, 0, 4, gpu.stream));
  EXPECT_EQ(gpu.download(out, 1)[0], 9);
  EXPECT_TRUE(std::isnan(gpu.download(workspace, 1)[0]));
}

TEST(CublasLt, HandlesWithoutADriver) {
  cuda_on_cpu::set_driver_version(0);
  cublasLtHandle_t handle = nullptr;
  EXPECT_STATUS(CUBLAS_STATUS_NOT_INITIALIZED, cublasLtCreate(&handle));
  cuda_on_cpu::reset();
  EXPECT_EQ(cublasLtGetVersion(), static_cast<size_t>(CUBLAS_VERSION));
  EXPECT_STREQ(cublasGetStatusString(CUBLAS_STATUS_NOT_SUPPORTED), "CUBLAS_STATUS_NOT_SUPPORTED");
}

}  // namespace
}  // namespace cuda_on_cpu_test
