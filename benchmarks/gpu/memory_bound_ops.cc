// Rows of operators that move more bytes than they compute: each array of theirs is 64 MiB.
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <optional>

#include "api/generated/ops/adamw_.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/argmax.h"
#include "api/generated/ops/cast.h"
#include "api/generated/ops/cross_entropy_with_softmax.h"
#include "api/generated/ops/cummax.h"
#include "api/generated/ops/cumsum.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/gaussian.h"
#include "api/generated/ops/layer_norm.h"
#include "api/generated/ops/randint.h"
#include "api/generated/ops/rms_norm.h"
#include "api/generated/ops/softmax.h"
#include "api/generated/ops/weight_only_linear.h"
#include "benchmarks/gpu/measurement.h"
#include "benchmarks/gpu/stopwatch.h"

namespace phi::gpu_bench {
namespace {

constexpr double kGoal = 0.80;
constexpr int64_t kArrayBytes = int64_t{64} << 20;

using Arrays = std::vector<Tensor>;

size_t bytes_of(const Arrays& arrays) {
  size_t bytes = 0;
  for (const Tensor& array : arrays) bytes += array.dense().nbytes();
  return bytes;
}

/// A call: what it must read, with what it writes in place, and what it returns.
struct Call {
  std::string what;
  Arrays read;
  std::function<Arrays()> run;
  double goal = kGoal;
};

/// One copy of as many bytes as `moved`, half of them read and half written.
class Copy {
 public:
  Copy(const Place& place, size_t moved)
      : device_(Device::of(place)),
        nbytes_(moved / 2),
        from_(full({static_cast<int64_t>(nbytes_)}, 1, DataType::UINT8)),
        to_(full({static_cast<int64_t>(nbytes_)}, 0, DataType::UINT8)) {}

  void run() { device_.copy(bytes(to_), bytes(from_), nbytes_); }

 private:
  static std::byte* bytes(Tensor& x) {
    return static_cast<std::byte*>(x.dense().mutable_raw_data());
  }

  Device& device_;
  size_t nbytes_;
  Tensor from_, to_;
};

Measurement measure(const Place& place, const Extent& extent, const Call& call) {
  Copy copy(place, bytes_of(call.read) + bytes_of(call.run()));
  Measurement row{.what = call.what, .beside = "copy", .goal = call.goal};
  const Comparison taken =
      Stopwatch(place, extent).compare([&] { (void)call.run(); }, [&] { copy.run(); });
  row.ours_us = taken.ours * 1e6, row.beside_us = taken.theirs * 1e6, row.ratio = taken.ratio;
  return row;
}

Tensor drawn(const IntArray& shape, DataType dtype, int seed) {
  return cast(gaussian(shape, 0, 1, seed), dtype);
}

void add_norms(DataType dtype, const Tensor& x, const Tensor& dy, std::vector<Call>* calls) {
  const auto named = [&](const char* op) { return fmt::format("{} {}", op, name_of(dtype)); };
  const Tensor scale = full({x.shape()[1]}, 1.0f, dtype), bias = full({x.shape()[1]}, 0.0f, dtype);
  calls->push_back({named("layer_norm"), {x}, [=] { return Arrays{layer_norm(x, scale, bias)}; }});
  calls->push_back(
      {named("layer_norm_grad"), {x, dy}, [=, kept = intermediate::layer_norm(x, scale, bias)] {
         const auto& [out, mean, variance] = kept;
         return Arrays{std::get<0>(layer_norm_grad(x, scale, bias, mean, variance, dy, 1e-5f, 1))};
       }});
  calls->push_back({named("rms_norm"), {x}, [=] { return Arrays{rms_norm(x, scale)}; }});
  calls->push_back({named("rms_norm_grad"), {x, dy}, [=, kept = intermediate::rms_norm(x, scale)] {
                      return Arrays{std::get<0>(rms_norm_grad(x, scale, std::get<1>(kept), dy))};
                    }});
}

void add_softmax(DataType dtype, const Tensor& x, const Tensor& dy, std::vector<Call>* calls) {
  const auto named = [&](const char* op) { return fmt::format("{} {}", op, name_of(dtype)); };
  const Tensor y = softmax(x);
  calls->push_back({named("softmax"), {x}, [=] { return Arrays{softmax(x)}; }});
  calls->push_back(
      {named("softmax_grad"), {y, dy}, [=] { return Arrays{softmax_grad(y, dy, -1)}; }});
}

/// Logits of a large vocabulary.
void add_cross_entropy(DataType dtype, int64_t count, int64_t classes, std::vector<Call>* calls) {
  const int64_t rows = count / classes;
  const Tensor logits = drawn({rows, classes}, dtype, 5);
  const Tensor labels = randint(0, static_cast<int>(classes), {rows, 1});
  calls->push_back({fmt::format("cross_entropy {}", name_of(dtype)), {logits}, [=] {
                      const auto [probabilities, loss] = cross_entropy_with_softmax(logits, labels);
                      return Arrays{probabilities, loss};
                    }});
  const auto [probabilities, loss] = cross_entropy_with_softmax(logits, labels);
  const Tensor grad = full(IntArray({rows, 1}), 1.0f, loss.dtype());
  calls->push_back({fmt::format("cross_entropy_grad {}", name_of(dtype)),
                    {probabilities},
                    [=, p = probabilities] {
                      return Arrays{
                          cross_entropy_with_softmax_grad(labels, p, grad, false, true, -100, -1)};
                    }});
}

/// Parameter and moments are read and written, gradients read.
Call adamw_call(int64_t count) {
  struct States {
    Tensor param, first, second, power1, power2;
    std::optional<Tensor> none, also_none;
  };
  const auto s = std::make_shared<States>(States{drawn({count}, DataType::FLOAT32, 6),
                                                 full({count}, 0.0f),
                                                 full({count}, 0.0f),
                                                 full({1}, 0.9f),
                                                 full({1}, 0.999f),
                                                 {},
                                                 {}});
  const Tensor grad = drawn({count}, DataType::FLOAT32, 7), rate = full({1}, 1e-3f);
  return {
      "adamw float32", {s->param, s->param, s->first, s->first, s->second, s->second, grad}, [=] {
        adamw_(s->param, grad, rate, s->first, s->second, s->none, s->power1, s->power2,
               s->also_none);
        return Arrays{};
      }};
}

/// What a step of generation does with one sequence: one line, one row.
void add_single_lines(int64_t count, int64_t width, std::vector<Call>* calls) {
  constexpr double kTwiceRead = 0.60;  // two thirds at the speed of a copy
  const Tensor line = drawn({count}, DataType::FLOAT32, 9);
  calls->push_back({"argmax of one line", {line}, [=] { return Arrays{argmax(line, 0)}; }});
  calls->push_back(
      {"cumsum of one line", {line}, [=] { return Arrays{cumsum(line, 0)}; }, kTwiceRead});
  constexpr double kTwiceReadWithPlaces = 0.67;  // three quarters
  calls->push_back({"cummax of one line",
                    {line},
                    [=] {
                      auto [most, places] = cummax(line, 0, DataType::INT32);
                      return Arrays{most, places};
                    },
                    kTwiceReadWithPlaces});
  const int64_t columns = static_cast<int64_t>(sizeof(float)) * count / width;
  const Tensor weight = full({columns, width}, 3, DataType::INT8), scale = full({columns}, 0.5f);
  const Tensor row = drawn({1, width}, DataType::BFLOAT16, 10);
  calls->push_back({"weight_only_linear of one row", {weight}, [=] {
                      return Arrays{weight_only_linear(row, weight, {}, scale)};
                    }});
}

std::vector<Call> calls_of(DataType dtype, const Extent& extent) {
  const int64_t count = extent.of(kArrayBytes, 1 << 14) / static_cast<int64_t>(size_of(dtype));
  const int64_t width = extent.of(4096, 64);
  const Tensor x = drawn({count / width, width}, dtype, 3),
               dy = drawn({count / width, width}, dtype, 4);
  std::vector<Call> calls;
  calls.push_back(
      {fmt::format("add {}", name_of(dtype)), {x, dy}, [=] { return Arrays{add(x, dy)}; }});
  const Tensor bias = drawn({width}, dtype, 8);
  calls.push_back(
      {fmt::format("add a bias {}", name_of(dtype)), {x}, [=] { return Arrays{add(x, bias)}; }});
  add_norms(dtype, x, dy, &calls);
  add_softmax(dtype, x, dy, &calls);
  add_cross_entropy(dtype, count, extent.of(32768, 128), &calls);
  if (dtype == DataType::FLOAT32) {
    calls.push_back(adamw_call(count));
    add_single_lines(count, width, &calls);
  }
  return calls;
}

}  // namespace

void measure_memory_bound_ops(const Place& place, const Extent& extent,
                              const AddMeasurement& add_row) {
  for (const DataType dtype : {DataType::FLOAT32, DataType::BFLOAT16}) {
    for (const Call& call : calls_of(dtype, extent)) add_row(measure(place, extent, call));
  }
}

}  // namespace phi::gpu_bench
