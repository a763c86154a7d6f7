// Running trials on thread ranks.
#include "tests/api/rules_verification/verdict.h"

#include <fmt/format.h>

#include <chrono>
#include <map>

#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"

namespace phi::testing {

using distributed::ProcessMesh;
using distributed::TensorDistAttr;

namespace {

constexpr std::chrono::seconds kDeadline(60);

// What one rank got.
struct Outcome {
  struct Output {
    TensorMeta meta;                       // global; no dtype: it is absent
    const TensorDistAttr* attr = nullptr;  // null: plain
    Part part;
  };
  std::string refusal;
  std::vector<Output> outputs;
};

// The parts of each input under each of its attrs, for all ranks.
class InputParts {
 public:
  InputParts(const Trial& trial, const std::vector<InputLayout>& layouts)
      : parts_(trial.inputs.size()) {
    for (const InputLayout& layout : layouts) {
      for (size_t i = 0; i < layout.size(); ++i) {
        if (layout[i] == nullptr || parts_[i].contains(layout[i])) continue;
        parts_[i][layout[i]] = parts_of(trial.inputs[i], *layout[i]);
      }
    }
  }
  const Tensor& at(size_t slot, const TensorDistAttr* attr, int64_t rank) const {
    return parts_[slot].at(attr)[static_cast<size_t>(rank)];
  }

 private:
  std::vector<std::map<const TensorDistAttr*, std::vector<Tensor>>> parts_;
};

TensorList inputs_here(const Trial& trial, const InputParts& parts, const InputLayout& layout) {
  TensorList inputs;
  for (size_t i = 0; i < layout.size(); ++i) {
    if (layout[i] == nullptr) {
      inputs.emplace_back();
      continue;
    }
    // Of its own: the call may write to it.
    const Tensor part(parts.at(i, layout[i], distributed::rank()).dense().clone());
    inputs.push_back(distributed::from_local(part, trial.inputs[i].meta.dims, layout[i]->mesh(),
                                             layout[i]->placements()));
  }
  return inputs;
}

Outcome outcome_here(const Trial& trial, const InputParts& parts, const InputLayout& layout) {
  Outcome outcome;
  try {
    for (const Tensor& out : trial.call(trial.with(inputs_here(trial, parts, layout)))) {
      Outcome::Output& shown = outcome.outputs.emplace_back();
      if (!out.defined()) continue;
      shown = {out.meta(), out.is_dist() ? out.dist_attr() : nullptr, part_of(out)};
    }
  } catch (const Error& error) {
    // What ranks do not meet again after ends the run.
    if (error.code() == ErrorCode::kExecutionTimeout || error.code() == ErrorCode::kUnavailable)
      throw;
    outcome.refusal = error.what();
  }
  return outcome;
}

// Of one output, by rank, as the ranks say that it lies.
std::string wrong_output(const Trial& trial, const ProcessMesh& mesh, size_t output,
                         const std::vector<Outcome>& ranks, std::vector<Part>* parts) {
  const Whole& expected = trial.expected[output];
  const TensorDistAttr* attr = ranks[0].outputs[output].attr;
  for (const Outcome& rank : ranks) {
    const Outcome::Output& got = rank.outputs[output];
    if ((got.meta.dtype != DataType::UNDEFINED) != trial.is_given[output]) {
      return trial.is_given[output] ? "it is absent" : "it is there";
    }
    if (!trial.is_given[output]) return "";
    if (got.attr != attr) return "ranks say that it lies differently";
    if (got.meta != expected.meta) {
      return fmt::format("it is {} instead of {}", got.meta.to_string(), expected.meta.to_string());
    }
    parts->push_back(got.part);
  }
  if (attr == nullptr) attr = TensorDistAttr::replicated(mesh);
  const std::string wrong = difference(expected, *attr, *parts, trial.tolerance);
  return wrong.empty() ? wrong : "as " + attr->to_string() + " " + wrong;
}

Verdict judged(const Trial& trial, const ProcessMesh& mesh, const InputLayout& layout,
               const std::vector<Outcome>& ranks) {
  using Kind = Verdict::Kind;
  const auto wrong = [&](const std::string& why) {
    return Verdict{
        Kind::kWrong,
        fmt::format("{}: {} on {}: {}", trial.name, describe(trial, layout), mesh.to_string(), why),
        {}};
  };
  size_t refused = 0;
  for (const Outcome& rank : ranks) refused += rank.refusal.empty() ? 0 : 1;
  if (refused == ranks.size()) return {Kind::kRefused, ranks[0].refusal, {}};
  for (const Outcome& rank : ranks) {
    if (!rank.refusal.empty()) return wrong("some ranks only refuse it: " + rank.refusal);
    if (rank.outputs.size() != trial.expected.size()) return wrong("the outputs are not as many");
  }
  Verdict verdict;
  for (size_t o = 0; o < trial.expected.size(); ++o) {
    const std::string why = wrong_output(trial, mesh, o, ranks, &verdict.parts.emplace_back());
    if (!why.empty()) return wrong(fmt::format("output {}: {}", o, why));
  }
  return verdict;
}

}  // namespace

std::vector<Verdict> verdicts(const Trial& trial, const ProcessMesh& mesh,
                              const std::vector<InputLayout>& layouts) {
  const InputParts parts(trial, layouts);
  std::vector<std::vector<Outcome>> outcomes(
      layouts.size(), std::vector<Outcome>(static_cast<size_t>(mesh.size())));
  std::string failure;
  try {
    distributed::run_ranks(
        mesh.size(),
        [&](distributed::World& world) {
          for (size_t q = 0; q < layouts.size(); ++q) {
            outcomes[q][static_cast<size_t>(world.rank())] = outcome_here(trial, parts, layouts[q]);
          }
        },
        kDeadline);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  std::vector<Verdict> result;
  for (size_t q = 0; q < layouts.size(); ++q) {
    if (failure.empty()) {
      result.push_back(judged(trial, mesh, layouts[q], outcomes[q]));
    } else {
      result.push_back({Verdict::Kind::kWrong, trial.name + ": the ranks failed: " + failure, {}});
    }
  }
  return result;
}

}  // namespace phi::testing
