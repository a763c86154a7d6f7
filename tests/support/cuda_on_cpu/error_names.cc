// Names and messages of the errors that the emulator returns or tests inject.
#include <cuda_runtime_api.h>

#include <array>

namespace {

struct Row {
  cudaError_t error;
  const char* name;
  const char* text;
};

#define CUDA_ON_CPU_ERROR(name, text) \
  Row { name, #name, text }

constexpr std::array kRows = {
    CUDA_ON_CPU_ERROR(cudaSuccess, "no error"),
    CUDA_ON_CPU_ERROR(cudaErrorInvalidValue, "invalid argument"),
    CUDA_ON_CPU_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    CUDA_ON_CPU_ERROR(cudaErrorInitializationError, "initialization error"),
    CUDA_ON_CPU_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    CUDA_ON_CPU_ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    CUDA_ON_CPU_ERROR(cudaErrorInsufficientDriver,
                      "CUDA driver version is insufficient for CUDA runtime version"),
    CUDA_ON_CPU_ERROR(cudaErrorDevicesUnavailable,
                      "CUDA-capable device(s) is/are busy or unavailable"),
    CUDA_ON_CPU_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    CUDA_ON_CPU_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    CUDA_ON_CPU_ERROR(cudaErrorNoKernelImageForDevice,
                      "no kernel image is available for execution on the device"),
    CUDA_ON_CPU_ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered"),
    CUDA_ON_CPU_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    CUDA_ON_CPU_ERROR(cudaErrorIllegalState,
                      "the operation cannot be performed in the present state"),
    CUDA_ON_CPU_ERROR(cudaErrorNotReady, "device not ready"),
    CUDA_ON_CPU_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    CUDA_ON_CPU_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    CUDA_ON_CPU_ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    CUDA_ON_CPU_ERROR(cudaErrorAssert, "device-side assert triggered"),
    CUDA_ON_CPU_ERROR(cudaErrorHostMemoryAlreadyRegistered,
                      "part or all of the requested memory range is already mapped"),
    CUDA_ON_CPU_ERROR(cudaErrorHostMemoryNotRegistered,
                      "pointer does not correspond to a registered memory region"),
    CUDA_ON_CPU_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    CUDA_ON_CPU_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    CUDA_ON_CPU_ERROR(cudaErrorNotSupported, "operation not supported"),
    CUDA_ON_CPU_ERROR(cudaErrorStreamCaptureUnsupported,
                      "operation not permitted when stream is capturing"),
    CUDA_ON_CPU_ERROR(cudaErrorStreamCaptureInvalidated,
                      "operation failed due to a previous error during capture"),
    CUDA_ON_CPU_ERROR(cudaErrorStreamCaptureMerge,
                      "operation would result in a merge of separate capture sequences"),
    CUDA_ON_CPU_ERROR(cudaErrorStreamCaptureUnmatched,
                      "capture was not ended in the same stream as it began"),
    CUDA_ON_CPU_ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    CUDA_ON_CPU_ERROR(cudaErrorStreamCaptureIsolation,
                      "dependency created on uncaptured work in another stream"),
    CUDA_ON_CPU_ERROR(cudaErrorStreamCaptureImplicit,
                      "operation would make the legacy stream depend on a capturing blocking "
                      "stream"),
    CUDA_ON_CPU_ERROR(cudaErrorCapturedEvent,
                      "operation not permitted on an event last recorded in a capturing stream"),
    CUDA_ON_CPU_ERROR(cudaErrorUnknown, "unknown error"),
};
#undef CUDA_ON_CPU_ERROR

const Row* row_of(cudaError_t error) {
  for (const Row& row : kRows) {
    if (row.error == error) return &row;
  }
  return nullptr;
}

}  // namespace

const char* cudaGetErrorName(cudaError_t error) {
  const Row* row = row_of(error);
  return row != nullptr ? row->name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  const Row* row = row_of(error);
  return row != nullptr ? row->text : "unrecognized error code";
}
