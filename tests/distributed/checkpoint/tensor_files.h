// Tensors to save, and values out of files, for tests of one process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "distributed/checkpoint/checkpoint.h"
#include "distributed/checkpoint/save.h"
#include "phi/core/dense_tensor.h"

namespace phi::distributed::checkpoint {

inline NamedTensor named(const std::string& name, const DenseTensor& dense) {
  return {name, DistTensor(dense.meta(), TensorDistAttr::replicated(ProcessMesh({1})), dense)};
}

template <typename T>
NamedTensor named(const std::string& name, const std::vector<T>& values, const Dims& shape) {
  return named(name, DenseTensor::from(std::span<const T>(values), shape));
}

/// Any bits, which are the same for the same seed: also NaN, and subnormal numbers.
inline NamedTensor random_bits(const std::string& name, const TensorMeta& meta, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(meta.nbytes());
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return named(name, DenseTensor::from(meta, bytes.data()));
}

template <typename T>
std::vector<T> read(const Checkpoint& from, const std::string& name, const Box& box) {
  const auto source = from.source(name, dtype_of<T>());
  DenseTensor out = DenseTensor::empty({box.size, dtype_of<T>()}, CPUPlace());
  source->read(box, &out);
  return {out.values<T>().begin(), out.values<T>().end()};
}

template <typename T>
std::vector<T> read(const Checkpoint& from, const std::string& name) {
  return read<T>(from, name, Box::whole(from.meta(name).dims));
}

inline std::vector<std::byte> bytes_of(const Checkpoint& from, const std::string& name,
                                       const Box& box) {
  const DataType dtype = from.meta(name).dtype;
  std::vector<std::byte> bytes(static_cast<size_t>(box.numel()) * size_of(dtype));
  from.read(name, box, dtype, bytes.data());
  return bytes;
}

inline std::vector<std::byte> bytes_of(const Checkpoint& from, const std::string& name) {
  return bytes_of(from, name, Box::whole(from.meta(name).dims));
}

/// Names of the tensors that are not the same, bit for bit, in both; of those in one alone too.
inline std::vector<std::string> unequal(const Checkpoint& a, const Checkpoint& b) {
  std::vector<std::string> names = a.names();
  for (const std::string& name : b.names()) {
    if (!a.contains(name)) names.push_back(name);
  }
  std::erase_if(names, [&](const std::string& name) {
    return a.contains(name) && b.contains(name) && a.meta(name) == b.meta(name) &&
           bytes_of(a, name) == bytes_of(b, name);
  });
  return names;
}

inline std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path().filename().string());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace phi::distributed::checkpoint
