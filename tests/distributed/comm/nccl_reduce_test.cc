// Reductions of arrays that lie in one GPU's memory: the bits of those that lie on the host.
#include <gtest/gtest.h>

#include <cstring>

#include "distributed/comm/nccl/reduce.h"
#include "distributed/comm/reduce.h"
#include "tests/distributed/comm/reduce_oracle.h"
#include "tests/phi/gpu/both_devices.h"

namespace phi::distributed {
namespace {

using phi::testing::downloaded;
using phi::testing::drawn;
using phi::testing::moved_by_one;
using phi::testing::uploaded;

struct Case {
  int64_t count;
  uint32_t inputs;
  bool in_packs;  // else one array begins between two
};
// Rest behind the packs, none, and nothing else; inputs that go to the kernel by value, and more.
const std::vector<Case> kCases = {{1, 1, true},     {37, 2, true},   {4096, 3, true},
                                  {1035, 3, false}, {259, 70, true}, {259, 70, false}};

bool has_order(DataType dtype, ReduceKind kind) {
  if (!is_complex(dtype)) return true;
  return kind == ReduceKind::kSum || kind == ReduceKind::kAvg || kind == ReduceKind::kProd;
}

std::vector<const void*> addresses(const std::vector<DenseTensor>& arrays) {
  std::vector<const void*> all;
  all.reserve(arrays.size());
  for (const DenseTensor& array : arrays) all.push_back(array.raw_data());
  return all;
}

void expect_same_bits(DataType dtype, ReduceKind kind, const Case& test) {
  // The bits of a NaN, which products of complex infinities are, are nobody's promise.
  const double most = is_complex(dtype) ? 0.7 : 2;
  std::vector<DenseTensor> host, device;
  for (uint32_t i = 0; i < test.inputs; ++i) {
    host.push_back(drawn(dtype, {test.count}, i, -most, most));
    device.push_back(uploaded(host.back()));
  }
  if (!test.in_packs) device.back() = moved_by_one(device.back());
  DenseTensor expected = DenseTensor::empty(host[0].meta(), CPUPlace());
  DenseTensor out = DenseTensor::empty(host[0].meta(), GPUPlace(0));
  reduce_arrays(addresses(host), expected.mutable_raw_data(), test.count, dtype, kind);
  reduce_on_gpu(gpu::GpuDevice::of(GPUPlace(0)), addresses(device), out.mutable_raw_data(),
                test.count, dtype, kind);
  const DenseTensor got = downloaded(out);
  EXPECT_EQ(std::memcmp(got.raw_data(), expected.raw_data(), expected.nbytes()), 0)
      << name_of(kind) << " of " << test.inputs << " arrays of " << host[0].meta().to_string();
}

TEST(ReduceOnGpu, SameBitsAsOnTheHost) {
  for (int t = 1; t < kNumDataTypes; ++t) {
    const auto dtype = static_cast<DataType>(t);
    for (const ReduceKind kind : testing::kAllReduceKinds) {
      if (!has_order(dtype, kind)) continue;
      for (const Case& test : kCases) expect_same_bits(dtype, kind, test);
    }
  }
}

TEST(ReduceOnGpu, MayWriteOverAnInput) {
  std::vector<DenseTensor> host, device;
  for (uint32_t i = 0; i < 3; ++i) {
    host.push_back(drawn(DataType::BFLOAT16, {1029}, i));
    device.push_back(uploaded(host.back()));
  }
  DenseTensor expected = DenseTensor::empty(host[0].meta(), CPUPlace());
  reduce_arrays(addresses(host), expected.mutable_raw_data(), 1029, DataType::BFLOAT16,
                ReduceKind::kSum);
  reduce_on_gpu(gpu::GpuDevice::of(GPUPlace(0)), addresses(device), device[1].mutable_raw_data(),
                1029, DataType::BFLOAT16, ReduceKind::kSum);
  const DenseTensor got = downloaded(device[1]);
  EXPECT_EQ(std::memcmp(got.raw_data(), expected.raw_data(), expected.nbytes()), 0);
}

}  // namespace
}  // namespace phi::distributed
