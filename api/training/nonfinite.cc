// Running a step again under a watch, and gathering what the ranks found.
#include "api/training/nonfinite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "api/tensor/held.h"
#include "distributed/comm/world.h"
#include "phi/common/finite.h"
#include "phi/core/output_watch.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/source_bytes.h"

namespace phi::training {
namespace {

using distributed::World;

constexpr size_t kShown = 5;  // parameters

// What one rank found, told to all.
struct Finding {
  int64_t order = std::numeric_limits<int64_t>::max();  // in the program, which all ranks share
  std::array<char, 248> text{};

  void set(int64_t at, const std::string& what) {
    order = at;
    text = {};
    std::memcpy(text.data(), what.data(), std::min(what.size(), text.size() - 1));
  }
};

// "nan at element 17", or nothing; of an array that this rank has computed or can read.
std::optional<std::string> fault_of(const DenseTensor& array) {
  if (!array.defined() || array.numel() == 0) return std::nullopt;
  const HostBytes bytes(array);
  const int64_t at = phi::first_nonfinite(bytes.get(), array.dtype());
  if (at < 0) return std::nullopt;
  return fmt::format("has a number that is not finite, element {} of {}", at,
                     array.meta().to_string());
}

// Keeps the first output that is not finite. Every rank comes past every operator of the program,
// whether it runs it or another rank does, so their numbers can be compared.
class FirstOutput final : public OutputWatch {
 public:
  FirstOutput() : context_(RankContext::current()), start_(now()) { context_.watch_outputs(this); }
  ~FirstOutput() override { context_.watch_outputs(nullptr); }
  FirstOutput(const FirstOutput&) = delete;
  FirstOutput& operator=(const FirstOutput&) = delete;

  void wrote(const OpDef& op, const DenseTensor& output) override {
    if (found_) return;
    const auto fault = fault_of(output);
    if (!fault) return;
    found_ = true;
    finding_.set(now() - start_, fmt::format("{}: its output {}", op.name, *fault));
  }
  const Finding& finding() const { return finding_; }

 private:
  int64_t now() const { return context_.counters().ops_launched + context_.counters().ops_clipped; }

  RankContext& context_;
  const int64_t start_;
  bool found_ = false;
  Finding finding_;
};

// The earliest of all ranks', with the rank.
std::optional<std::pair<int64_t, std::string>> earliest(const Finding& own) {
  World& world = World::current();
  std::vector<Finding> all(static_cast<size_t>(world.size()));
  world.everyone().all_gather(&own, all.data(), sizeof(Finding) / 8, DataType::INT64);
  const auto first = std::ranges::min_element(all, {}, &Finding::order);
  if (first->order == std::numeric_limits<int64_t>::max()) return std::nullopt;
  return std::pair{first - all.begin(), std::string(first->text.data())};
}

// Names with faults on any rank, in the order of `tensors`.
std::vector<std::string> faulty(const nn::NamedTensors& tensors) {
  std::vector<int32_t> counts(tensors.size());  // of ranks
  for (size_t i = 0; i < tensors.size(); ++i) {
    const DenseTensor* array = held_here(tensors[i].second).array;
    counts[i] = array && fault_of(*array) ? 1 : 0;
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
    const DenseTensor* array = held_here(parameters[i].second).array;
    const auto fault = array ? fault_of(*array) : std::nullopt;
    if (fault) {
      own.set(static_cast<int64_t>(i),
              fmt::format("parameter '{}' {}", parameters[i].first, *fault));
    }
  }
  if (const auto first = earliest(own)) {
    return fmt::format("\n  before the step, at rank {}: {}", first->first, first->second);
  }
  if (step.options().memory.is_limited()) {
    return "\n  all parameters are finite; which operator is at fault is not looked for under "
           "memory limits";
  }
  const FirstOutput watch;
  step.run_gradients(inputs);
  std::string out = "\n  all parameters are finite before the step";
  const auto first = earliest(watch.finding());
  if (first) out += fmt::format("\n  first, at rank {}: operator {}", first->first, first->second);
  const auto names = faulty(gradients_of(step.model()));
  for (Tensor parameter : step.model().parameters()) parameter.clear_grad();
  if (!names.empty()) return out + "\n  gradients that are not finite: " + list_of(names);
  if (first) return out;
  return out +
         "\n  so is what every operator gives on every rank, and a sum over ranks or of squares of "
         "gradients is not: they have become very large; take a lower learning rate or a longer "
         "warm-up";
}

}  // namespace phi::training
