// Both ends of python_test.py: `save DIR` writes tensors of every dtype; `dump PATH` prints what a
// checkpoint holds, as JSON {name: [dtype, shape, bytes in hex]}.
#include <fmt/core.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "distributed/checkpoint/checkpoint.h"
#include "distributed/checkpoint/format/safetensors.h"
#include "phi/common/errors.h"

namespace phi::distributed::checkpoint {
namespace {

// Byte i of every tensor is 7 i + 1 modulo 256, which python_test.py knows; bools are 1.
NamedTensor make(const std::string& name, DataType dtype, const Dims& shape) {
  DenseTensor dense = DenseTensor::empty({shape, dtype}, CPUPlace());
  auto* bytes = static_cast<uint8_t*>(dense.mutable_raw_data());
  for (size_t i = 0; i < dense.nbytes(); ++i) {
    bytes[i] = dtype == DataType::BOOL ? 1 : static_cast<uint8_t>(7 * i + 1);
  }
  const auto* attr = TensorDistAttr::replicated(ProcessMesh({1}));
  return {name, DistTensor(dense.meta(), attr, dense)};
}

void save_all_dtypes(const std::string& folder) {
  std::vector<NamedTensor> tensors;
  for (int i = 1; i < kNumDataTypes; ++i) {
    const auto dtype = static_cast<DataType>(i);
    tensors.push_back(make(fmt::format("odd.{}", name_of(dtype)), dtype, {3, 5}));
  }
  tensors.push_back(make("scalar", DataType::FLOAT32, {}));
  tensors.push_back(make("empty", DataType::FLOAT32, {0, 4}));
  tensors.push_back(make("naïve \"name\"\\", DataType::INT64, {2}));
  save(folder, tensors);
}

void dump(const std::string& path) {
  const Checkpoint checkpoint = open(path);
  nlohmann::json json = nlohmann::json::object();
  for (const std::string& name : checkpoint.names()) {
    const TensorMeta& meta = checkpoint.meta(name);
    DenseTensor out = DenseTensor::empty(meta, CPUPlace());
    checkpoint.source(name)->read(Box::whole(meta.dims), &out);
    std::string hex;
    for (size_t i = 0; i < out.nbytes(); ++i) {
      hex += fmt::format("{:02x}", static_cast<const uint8_t*>(out.raw_data())[i]);
    }
    json[name] = {safetensors_name_of(meta.dtype), meta.dims.to_vector(), hex};
  }
  fmt::print("{}\n", json.dump());
}

}  // namespace
}  // namespace phi::distributed::checkpoint

int main(int argc, char** argv) {
  namespace checkpoint = phi::distributed::checkpoint;
  const std::string command = argc == 3 ? argv[1] : "";
  try {
    if (command == "save") {
      checkpoint::save_all_dtypes(argv[2]);
    } else if (command == "dump") {
      checkpoint::dump(argv[2]);
    } else {
      fmt::print(stderr, "usage: checkpoint_tool save DIR | dump PATH\n");
      return 2;
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
