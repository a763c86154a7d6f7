// multiplex and partial_sum on GPUs: selection and column sums over a list of arrays.
#include <span>
#include <type_traits>

#include "phi/generated/kernels/concat.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/indexing/index_positions.h"

namespace phi {
namespace {

/// Copies the rows for which `input` is chosen; other rows keep their values.
template <typename W>
struct ChosenRows {
  const int64_t* choices;
  int64_t input;
  const W* x;
  const W* there;
  int64_t width;
  PHI_HD W operator()(int64_t i) const { return choices[i / width] == input ? x[i] : there[i]; }
};

/// Type in which columns are added; integers wrap.
template <typename T>
struct WrappingSumType {
  using type = compute_t<T>;
};
template <typename T>
requires std::is_integral_v<T>
struct WrappingSumType<T> {
  using type = std::make_unsigned_t<T>;
};
template <typename T>
using wrapping_sum_t = typename WrappingSumType<T>::type;

/// Adds columns from `first` on of rows of `columns` to the sums so far; `sums` is null for the
/// first input.
template <typename T>
struct AddColumns {
  using C = wrapping_sum_t<T>;
  const C* sums;
  const T* x;
  int64_t columns;
  int64_t first;
  int64_t width;
  PHI_HD C operator()(int64_t i) const {
    const int64_t row = i / width;
    const auto term = static_cast<C>(x[row * columns + first + i - row * width]);
    return sums ? static_cast<C>(sums[i] + term) : term;
  }
};

}  // namespace

/// T is the dtype of the inputs. Errors: InvalidArgument for an index without an input.
template <typename T, typename Context>
void MultiplexKernel(const Context& ctx, std::span<const DenseTensor* const> inputs,
                     const DenseTensor& index, DenseTensor* out) {
  using W = width_t<T>;
  const int64_t width = out->dims().numel(1, out->ndim());
  const Dims choices{static_cast<int64_t>(inputs.size())};
  const DenseTensor chosen =
      places_in(ctx, LookupTable({choices, Box::whole(choices)}, 0), index, "index", "inputs");
  auto* to = static_cast<W*>(out->mutable_raw_data());
  for (size_t k = 0; k < inputs.size(); ++k) {
    index_loop(ctx, to, out->numel(),
               ChosenRows<W>{chosen.data<int64_t>(), static_cast<int64_t>(k),
                             static_cast<const W*>(inputs[k]->raw_data()), to, width});
  }
}

template <typename T, typename Context>
void PartialSumKernel(const Context& ctx, std::span<const DenseTensor* const> x, int start_index,
                      DenseTensor* out) {
  using C = wrapping_sum_t<T>;
  const int64_t width = out->dims()[1];
  constexpr bool kIsOwn = sizeof(C) == sizeof(T);  // integers are summed as unsigned
  DenseTensor wide =
      DenseTensor::empty({out->dims(), kIsOwn ? out->dtype() : dtype_of<C>()}, ctx.place());
  C* sums = static_cast<C*>(kIsOwn ? out->mutable_raw_data() : wide.mutable_raw_data());
  const C* before = nullptr;
  for (const DenseTensor* part : x) {
    const int64_t columns = part->dims()[1];
    const int64_t first = start_index < 0 ? start_index + columns : start_index;
    index_loop(ctx, sums, out->numel(),
               AddColumns<T>{before, part->data<T>(), columns, first, width});
    before = sums;
  }
  if constexpr (!kIsOwn) convert(ctx, sums, out->mutable_data<T>(), out->numel());
}

PHI_REGISTER_KERNEL(multiplex, GPU, MultiplexKernel, EveryType);
PHI_REGISTER_KERNEL(partial_sum, GPU, PartialSumKernel, Numbers);

}  // namespace phi
