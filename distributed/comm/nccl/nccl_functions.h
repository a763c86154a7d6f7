// The NCCL functions that this library calls. NCCL is loaded when ranks connect their GPUs, because
// loading is slow and programs without GPUs do not need it.
#pragma once

#include <nccl.h>

#include <string>

namespace phi::distributed {

#define PHI_NCCL_FUNCTIONS(F) \
  F(ncclAllGather)            \
  F(ncclAllReduce)            \
  F(ncclCommAbort)            \
  F(ncclCommDestroy)          \
  F(ncclCommFinalize)         \
  F(ncclCommGetAsyncError)    \
  F(ncclCommInitRankConfig)   \
  F(ncclGetErrorString)       \
  F(ncclGetLastError)         \
  F(ncclGetUniqueId)          \
  F(ncclGetVersion)           \
  F(ncclGroupEnd)             \
  F(ncclGroupStart)           \
  F(ncclRecv)                 \
  F(ncclReduceScatter)        \
  F(ncclSend)

struct NcclFunctions {
#define PHI_NCCL_MEMBER(name) decltype(&::name) name;
  PHI_NCCL_FUNCTIONS(PHI_NCCL_MEMBER)
#undef PHI_NCCL_MEMBER
};

/// The loaded functions. Errors: Unavailable if the library is not found or lacks a function.
const NcclFunctions& nccl();

/// Lowest supported version. NCCL encodes version 2.28.9 as 22809.
inline constexpr int kMinNcclVersion = 22700;
static_assert(NCCL_VERSION_CODE >= kMinNcclVersion, "NCCL 2.27 or newer is needed");
std::string nccl_version_text(int version);
/// For example "NCCL error 5, invalid usage: Duplicate GPU detected".
std::string describe(ncclResult_t status, ncclComm_t comm = nullptr);

}  // namespace phi::distributed
