// Fills a part of a global tensor with Gaussian or uniform values.
#include "phi/kernels/random_fill.h"

#include <cmath>

#include "phi/common/errors.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/random/random_stream.h"
#include "phi/kernels/functors/random_values.h"

namespace phi {
namespace {

// Not inlined: one compiled body generates every batch, so that equal inputs give equal bits.
template <typename C>
[[gnu::noinline]] void gaussian_batch(const BatchBlocks& blocks, uint64_t seed, C mean, C std,
                                      BatchValues<C>* values) {
  const BatchWords random(blocks, seed, RandomUse::kGaussian);
  run_best_isa<C>([words = random.words.data(), mean, std, to = values->data()] {
#pragma GCC ivdep
    for (int i = 0; i < kBatchValues; i += 2) {
      float z[2];
      normal_pair(words[i], words[i + 1], &z[0], &z[1]);
      to[i] = mean + std * static_cast<C>(z[0]);
      to[i + 1] = mean + std * static_cast<C>(z[1]);
    }
  });
}

template <typename C>
[[gnu::noinline]] void uniform_batch(const BatchBlocks& blocks, uint64_t seed, C min, C max,
                                     BatchValues<C>* values) {
  const BatchWords random(blocks, seed, RandomUse::kUniform);
  const C below_max = std::nextafter(max, min);
  run_best_isa<C>([words = random.words.data(), min, max, below_max, to = values->data()] {
#pragma GCC ivdep
    for (int i = 0; i < kBatchValues; ++i) {
      C u;
      unit_value(words[i], &u);
      const C value = min + u * (max - min);
      to[i] = value < max ? value : below_max;  // rounding may give max
    }
  });
}

template <typename F>
void visit_floating(DataType dtype, F&& f) {
  switch (dtype) {
    case DataType::FLOAT16:
      return f.template operator()<float16>();
    case DataType::BFLOAT16:
      return f.template operator()<bfloat16>();
    case DataType::FLOAT32:
      return f.template operator()<float>();
    case DataType::FLOAT64:
      return f.template operator()<double>();
    default:
      throw errors::InvalidArgument(
          "random values of dtype {} are requested, but they are floating; use float32 and cast.",
          name_of(dtype));
  }
}

void check_size(const ShardBox& where, const DenseTensor& out) {
  PHI_CHECK(out.dims() == where.box.size,
            errors::InvalidArgument("out is {}, but box {} has other extents.",
                                    out.meta().to_string(), where.box.to_string()));
}

}  // namespace

void fill_gaussian(const ShardBox& where, float mean, float std, uint64_t seed, DenseTensor* out) {
  PHI_CHECK(std >= 0.0f, errors::InvalidArgument("std is {}, but it must be at least 0.", std));
  check_size(where, *out);
  visit_floating(out->dtype(), [&]<typename T>() {
    using C = compute_t<T>;
    T* const to = out->mutable_data<T>();
    draw_random<C>(
        where,
        [&](const BatchBlocks& blocks, BatchValues<C>* values) {
          gaussian_batch<C>(blocks, seed, mean, std, values);
        },
        [&](int64_t at, const C* values, int64_t n) { convert(values, to + at, n); });
  });
}

void fill_uniform(const ShardBox& where, double min, double max, uint64_t seed, DenseTensor* out) {
  PHI_CHECK(min <= max, errors::InvalidArgument(
                            "min is {} and max is {}: max must be at least min.", min, max));
  check_size(where, *out);
  visit_floating(out->dtype(), [&]<typename T>() {
    using C = compute_t<T>;
    T* const to = out->mutable_data<T>();
    draw_random<C>(
        where,
        [&](const BatchBlocks& blocks, BatchValues<C>* values) {
          uniform_batch<C>(blocks, seed, static_cast<C>(min), static_cast<C>(max), values);
        },
        [&](int64_t at, const C* values, int64_t n) { convert(values, to + at, n); });
  });
}

}  // namespace phi
