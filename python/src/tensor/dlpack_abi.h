// The memory layout of DLPack's structures, by which libraries exchange arrays. Source:
// https://dmlc.github.io/dlpack/latest/c_api.html, versions 0.x (unversioned structures) and 1.x.
#pragma once

#include <cstdint>

namespace phi::python::dlpack {

inline constexpr int32_t kCpu = 1;  // kDLCPU

/// Kinds of numbers.
enum Code : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };

struct Device {
  int32_t kind;
  int32_t index;
};

struct ElementType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Array {
  void* data;
  Device device;
  int32_t ndim;
  ElementType type;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};

/// The consumer of the array calls `deleter` when it no longer uses the array.
struct ManagedTensor {
  Array array;
  void* context;
  void (*deleter)(ManagedTensor*);
};

struct Version {
  uint32_t major;
  uint32_t minor;
};
inline constexpr Version kVersion = {1, 0};

inline constexpr uint64_t kReadOnly = 1;
inline constexpr uint64_t kIsCopied = 2;

struct ManagedTensorVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedTensorVersioned*);
  uint64_t flags;
  Array array;
};

/// Names of capsules before and after a consumer has taken their array.
inline constexpr const char* kName = "dltensor";
inline constexpr const char* kUsedName = "used_dltensor";
inline constexpr const char* kVersionedName = "dltensor_versioned";
inline constexpr const char* kUsedVersionedName = "used_dltensor_versioned";

}  // namespace phi::python::dlpack
