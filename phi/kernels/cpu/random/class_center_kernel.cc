// class_center_sample on the CPU: the classes of labels and randomly drawn others, for losses over
// many classes (An and others, "Partial FC", 2021).
#include <algorithm>
#include <numeric>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/sampling.h"
#include "phi/kernels/cpu/check_elements.h"
#include "phi/kernels/functors/choice_errors.h"
#include "phi/kernels/functors/random_draws.h"

namespace phi {
namespace {

/// Returns, for each class, whether a label has it.
template <typename T>
std::vector<bool> classes_of(const DenseTensor& label, int num_classes) {
  std::vector<bool> is_there(static_cast<size_t>(num_classes));
  const T* labels = label.data<T>();
  for (int64_t i = 0; i < label.numel(); ++i) is_there[static_cast<size_t>(labels[i])] = true;
  return is_there;
}

/// Returns `count` of the classes, all equally likely: those with the smallest random words.
std::vector<int64_t> sampled_classes(std::vector<int64_t> classes, size_t count, int seed) {
  const PhiloxKey key = philox_key(static_cast<uint64_t>(static_cast<int64_t>(seed)));
  std::vector<std::pair<double, int64_t>> draws;
  draws.reserve(classes.size());
  for (const int64_t c : classes) {
    ElementWords words(static_cast<uint64_t>(c), RandomUse::kClassCenters, key);
    draws.emplace_back(words.unit(), c);
  }
  const auto end = draws.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(draws.begin(), end, draws.end());
  classes.clear();
  for (auto draw = draws.begin(); draw != end; ++draw) classes.push_back(draw->second);
  return classes;
}

}  // namespace

/// Errors   InvalidArgument with the position of a label that is not a class.
template <typename T, typename Context>
void ClassCenterSampleKernel(const Context& ctx, const DenseTensor& label, int num_classes,
                             int num_samples, bool /*fix_seed*/, int seed, DenseTensor* remapped,
                             DenseTensor* sampled) {
  check_elements<T>(ctx, label, IsInvalidClass{num_classes},
                    {.argument = "label", .raise = throw_invalid_class, .extent = num_classes});
  const std::vector<bool> is_there = classes_of<T>(label, num_classes);
  std::vector<int64_t> centres, others;
  for (int64_t c = 0; c < num_classes; ++c) (is_there[c] ? centres : others).push_back(c);
  std::vector<T> place(static_cast<size_t>(num_classes));
  for (size_t i = 0; i < centres.size(); ++i) place[centres[i]] = static_cast<T>(i);
  if (const auto wanted = static_cast<size_t>(num_samples); wanted > centres.size()) {
    const auto more = sampled_classes(std::move(others), wanted - centres.size(), seed);
    centres.insert(centres.end(), more.begin(), more.end());
  }
  *sampled =
      DenseTensor::empty({{static_cast<int64_t>(centres.size())}, label.dtype()}, ctx.place());
  std::copy(centres.begin(), centres.end(), sampled->mutable_data<T>());
  *remapped = DenseTensor::empty(label.meta(), ctx.place());
  T* to = remapped->mutable_data<T>();
  for (int64_t i = 0; i < label.numel(); ++i) to[i] = place[label.data<T>()[i]];
}

PHI_REGISTER_KERNEL(class_center_sample, CPU, ClassCenterSampleKernel, SignedIntegers);

}  // namespace phi
