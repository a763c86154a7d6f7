// The cuBLASLt functions that this library calls. cuBLASLt is loaded at the first matmul on a GPU,
// because loading is slow and programs without such a matmul do not need it.
#pragma once

#include <cublasLt.h>

namespace phi::gpu {

#define PHI_CUBLASLT_FUNCTIONS(F)         \
  F(cublasLtCreate)                       \
  F(cublasLtGetStatusString)              \
  F(cublasLtMatmul)                       \
  F(cublasLtMatmulAlgoGetHeuristic)       \
  F(cublasLtMatmulDescCreate)             \
  F(cublasLtMatmulDescDestroy)            \
  F(cublasLtMatmulDescSetAttribute)       \
  F(cublasLtMatmulPreferenceCreate)       \
  F(cublasLtMatmulPreferenceDestroy)      \
  F(cublasLtMatmulPreferenceSetAttribute) \
  F(cublasLtMatrixLayoutCreate)           \
  F(cublasLtMatrixLayoutDestroy)          \
  F(cublasLtMatrixLayoutSetAttribute)

struct CublasLt {
#define PHI_CUBLASLT_MEMBER(name) decltype(&::name) name;
  PHI_CUBLASLT_FUNCTIONS(PHI_CUBLASLT_MEMBER)
#undef PHI_CUBLASLT_MEMBER
};

/// The loaded functions; loads the library at the first call. Errors: Unavailable if the library of
/// this build's CUDA version is not found or lacks a function.
const CublasLt& cublaslt();

}  // namespace phi::gpu
