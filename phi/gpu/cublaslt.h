// The functions of cuBLASLt that are used here. The library is loaded when the first product runs
// on a GPU: it takes a second to load, which programs without one need not wait for.
#pragma once

#include <cublasLt.h>

namespace phi::gpu {

// One line per function.
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

/// Errors: Unavailable if the library of this build's CUDA is not found, or lacks a function.
const CublasLt& cublaslt();

}  // namespace phi::gpu
