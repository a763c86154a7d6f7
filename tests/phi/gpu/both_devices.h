// Kernels of GPUs, run by the emulator or a real GPU, beside those of the CPU: the same inputs, and
// the same results within rounding, in each order of warps and blocks.
//
//   expect_same_on_gpu({x}, {x.meta()}, [](const KernelContext& ctx, Arrays& in, Arrays& out) {
//     registered<kernels::softmax, float>(ctx, in[0], 1, &out[0]);
//   });
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "phi/core/registered_kernel.h"
#include "phi/gpu/gpu_device.h"
#include "tests/phi/gpu/orders.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {

using Arrays = std::vector<DenseTensor>;
/// Launches through the registry on the context's place.
using KernelCall = std::function<void(const KernelContext& ctx, Arrays& in, Arrays& out)>;

/// A copy on another place, of an array on the host.
inline DenseTensor uploaded(const DenseTensor& x) {
  DenseTensor copy = DenseTensor::empty(x.meta(), GPUPlace(0));
  if (x.nbytes() == 0) return copy;
  gpu::GpuDevice::of(copy.place())
      .copy_from_host(static_cast<std::byte*>(copy.mutable_raw_data()), x.raw_data(), x.nbytes());
  return copy;
}
inline DenseTensor downloaded(const DenseTensor& x) {
  DenseTensor copy = DenseTensor::empty(x.meta(), CPUPlace());
  if (x.nbytes() == 0) return copy;
  gpu::GpuDevice::of(x.place()).copy_to_host(
      copy.mutable_raw_data(), static_cast<const std::byte*>(x.raw_data()), x.nbytes());
  return copy;
}

/// Numbers of any dtype: multiples of 1/64, or whole ones from 0 on where T has no sign.
inline DenseTensor drawn(DataType dtype, const Dims& dims, uint32_t seed, double low = -2,
                         double high = 2) {
  if (is_complex(dtype)) {
    Dims parts = dims;
    parts.push_back(2);
    return {{dims, dtype}, drawn(real_part_of(dtype), parts, seed, low, high).storage()};
  }
  return visit_dtype(dtype, [&]<typename T>() {
    const bool is_unsigned = std::is_integral_v<T> && !std::is_signed_v<T>;
    return tensor<T>(
        random_values(dims.numel(), seed, is_unsigned ? std::max(low, 0.0) : low, high), dims);
  });
}

/// A copy on x's place that begins one element behind where allocations do.
inline DenseTensor moved_by_one(const DenseTensor& x) {
  const Dims all = {x.numel() + 1};
  const size_t offset = size_of(x.dtype());
  DenseTensor copy(x.meta(), DenseTensor::empty({all, x.dtype()}, x.place()).storage(), offset);
  Device::of(x.place()).copy(static_cast<std::byte*>(copy.mutable_raw_data()),
                             static_cast<const std::byte*>(x.raw_data()), x.nbytes());
  return copy;
}

namespace detail {

/// Elements, the parts of complex ones, as they are compared.
inline Values parts_of(const DenseTensor& x) {
  if (!is_complex(x.dtype())) return to_doubles(x);
  Dims parts = x.dims();
  parts.push_back(2);
  return to_doubles({{parts, real_part_of(x.dtype())}, x.storage()});
}

inline double rounding_of(DataType dtype) {
  return visit_dtype(real_part_of(dtype),
                     []<typename T>() { return std::is_integral_v<T> ? 0.0 : tolerance<T>(); });
}

inline std::vector<std::byte> bytes_of(const DenseTensor& x) {
  const auto* bytes = static_cast<const std::byte*>(x.raw_data());
  return {bytes, bytes + x.nbytes()};
}

/// Bytes that no kernel leaves: other ones on each device, so that what stays unwritten shows.
inline Arrays unwritten(const std::vector<TensorMeta>& metas, int byte) {
  Arrays arrays;
  for (const TensorMeta& meta : metas) {
    arrays.push_back(DenseTensor::empty(meta, CPUPlace()));
    if (meta.nbytes() > 0) std::memset(arrays.back().mutable_raw_data(), byte, meta.nbytes());
  }
  return arrays;
}

template <typename F>
Arrays each(const Arrays& arrays, F f) {
  Arrays results;
  for (const DenseTensor& x : arrays) results.push_back(x.defined() ? f(x) : DenseTensor());
  return results;
}

}  // namespace detail

/// What a call leaves on the GPU: its inputs, which it may have written, then its outputs.
inline Arrays left_on_gpu(const Arrays& inputs, const std::vector<TensorMeta>& outputs,
                          const KernelCall& call, const LaunchView* view = nullptr) {
  Arrays in = detail::each(inputs, uploaded);
  Arrays out = detail::each(detail::unwritten(outputs, 1), uploaded);
  call(KernelContext(GPUPlace(0), view), in, out);
  gpu::GpuDevice::of(GPUPlace(0)).wait();
  in.insert(in.end(), out.begin(), out.end());
  return detail::each(in, downloaded);
}
inline Arrays left_on_cpu(const Arrays& inputs, const std::vector<TensorMeta>& outputs,
                          const KernelCall& call, const LaunchView* view = nullptr) {
  Arrays in = detail::each(inputs, [](const DenseTensor& x) { return x.clone(); });
  Arrays out = detail::unwritten(outputs, 2);
  call(KernelContext(CPUPlace(), view), in, out);
  in.insert(in.end(), out.begin(), out.end());
  return in;
}

/// Inputs may be undefined, where `call` takes none. Integers are equal, floats within `roundings`
/// times what rounding may cost; 0: equal too. The GPU's results are the same bits in all orders.
inline void expect_same_on_gpu(const Arrays& inputs, const std::vector<TensorMeta>& outputs,
                               const KernelCall& call, double roundings = 1,
                               const LaunchView* view = nullptr) {
  const Arrays expected = left_on_cpu(inputs, outputs, call, view);
  Arrays first;
  in_each_order([&] {
    const Arrays got = left_on_gpu(inputs, outputs, call, view);
    for (size_t i = 0; i < got.size(); ++i) {
      if (!got[i].defined()) continue;
      const std::string what = (i < inputs.size() ? "input " : "output ") +
                               std::to_string(i < inputs.size() ? i : i - inputs.size()) + " " +
                               got[i].meta().to_string();
      if (!first.empty()) {
        EXPECT_EQ(detail::bytes_of(got[i]), detail::bytes_of(first[i])) << what << ", other order";
      }
      expect_close(detail::parts_of(got[i]), detail::parts_of(expected[i]),
                   roundings * detail::rounding_of(got[i].dtype()), what);
    }
    if (first.empty()) first = got;
    return !::testing::Test::HasFailure();
  });
}

/// Calls f.template operator()<T>() for each type of a list.
template <typename... Ts, typename F>
void for_each_type(TypeList<Ts...>, F&& f) {
  (f.template operator()<Ts>(), ...);
}

}  // namespace phi::testing
