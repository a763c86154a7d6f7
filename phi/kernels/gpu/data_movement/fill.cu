// Fills, compiled once per element width.
#include <cstring>

#include "phi/kernels/element_width.h"
#include "phi/kernels/gpu/data_movement/fill.h"
#include "phi/kernels/gpu/elementwise/map.h"

namespace phi::gpu {
namespace {

template <typename W>
struct ConstantFunctor {
  W value;
  PHI_HD W operator()() const { return value; }
};

}  // namespace

void fill_elements(const GpuContext& ctx, void* to, int64_t n, const void* value, size_t width) {
  visit_width(width, [&]<typename W>() {
    ConstantFunctor<W> constant;
    std::memcpy(&constant.value, value, sizeof(W));
    map(ctx, static_cast<W*>(to), n, constant);
  });
}

}  // namespace phi::gpu
