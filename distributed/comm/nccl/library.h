// The functions of NCCL that are used here. The library is loaded when ranks join by it: it takes a
// second to load, which programs without GPUs need not wait for.
#pragma once

#include <nccl.h>

#include <string>

namespace phi::distributed {

// One line per function.
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

struct Nccl {
#define PHI_NCCL_MEMBER(name) decltype(&::name) name;
  PHI_NCCL_FUNCTIONS(PHI_NCCL_MEMBER)
#undef PHI_NCCL_MEMBER
};

/// Errors: Unavailable if the library is not found, or lacks a function.
const Nccl& nccl();

/// NCCL writes 2.28.9 as 22809.
inline constexpr int kLeastNccl = 22700;
static_assert(NCCL_VERSION_CODE >= kLeastNccl, "NCCL 2.27 or newer is needed");
std::string nccl_version_text(int version);
/// "NCCL error 5, invalid usage: Duplicate GPU detected"
std::string describe(ncclResult_t status, ncclComm_t comm = nullptr);

}  // namespace phi::distributed
