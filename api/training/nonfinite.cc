// Repeats a step under an observer and gathers the findings of all ranks.
#include "api/training/nonfinite.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "api/explain/check_numbers.h"
#include "api/tensor/local_shard.h"
#include "distributed/comm/world.h"

namespace phi::training {
namespace {

using distributed::World;

constexpr size_t kShown = 5;  // parameters named in a message

// Names of the tensors with non-finite values on any rank, in the order of `tensors`.
std::vector<std::string> faulty(const nn::NamedTensors& tensors) {
  std::vector<int32_t> counts(tensors.size());  // number of ranks with non-finite values
  for (size_t i = 0; i < tensors.size(); ++i) {
    const DenseTensor* array = local_shard(tensors[i].second).array;
    counts[i] = array && nonfinite_in(*array) ? 1 : 0;
  }
  World::current().everyone().all_reduce(counts.data(), std::ssize(counts), DataType::INT32,
                                         distributed::ReduceKind::kSum);
  std::vector<std::string> names;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (counts[i] > 0) names.push_back(tensors[i].first);
  }
  return names;
}

std::string list_of(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kShown);
  std::string out;
  for (size_t i = 0; i < shown; ++i) out += fmt::format("{}'{}'", i == 0 ? "" : ", ", names[i]);
  if (names.size() > shown) out += fmt::format(" and {} more", names.size() - shown);
  return out;
}

nn::NamedTensors gradients_of(const nn::Module& model) {
  nn::NamedTensors gradients;
  for (const auto& [name, parameter] : model.named_parameters()) {
    gradients.emplace_back(name, parameter.grad_so_far());
  }
  return gradients;
}

}  // namespace

std::string first_nonfinite_of(TrainStep& step, const TensorList& inputs) {
  const auto parameters = step.model().named_parameters();
  Finding own;
  for (size_t i = 0; i < parameters.size() && own.text[0] == '\0'; ++i) {
    const DenseTensor* array = local_shard(parameters[i].second).array;
    const auto fault = array ? nonfinite_in(*array) : std::nullopt;
    if (fault) {
      own.set(static_cast<int64_t>(i),
              fmt::format("parameter '{}' {}", parameters[i].first, *fault));
    }
  }
  if (const auto first = earliest(own)) {
    return fmt::format("\n  before the step, at rank {}: {}", first->first, first->second);
  }
  if (step.options().memory.is_limited()) {
    return "\n  all parameters are finite; the failing operator is not searched for under memory "
           "limits";
  }
  const FirstNonfinite watch;
  step.run_gradients(inputs);
  std::string out = "\n  all parameters are finite before the step";
  const auto first = earliest(watch.finding());
  if (first) out += fmt::format("\n  first, at rank {}: operator {}", first->first, first->second);
  const auto names = faulty(gradients_of(step.model()));
  for (Tensor parameter : step.model().parameters()) parameter.clear_grad();
  if (!names.empty()) return out + "\n  gradients that are not finite: " + list_of(names);
  if (first) return out;
  return out +
         "\n  every operator's output on every rank is finite too, but a sum over ranks or of "
         "squares of gradients is not: they are too large; use a lower learning rate or a longer "
         "warm-up";
}

}  // namespace phi::training
