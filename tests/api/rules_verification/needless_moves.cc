// The plain call on the parts of each rank, and what placement puts the results together.
#include "tests/api/rules_verification/needless_moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "tests/api/rules_verification/child_process.h"
#include "tests/support/rare_values.h"

namespace phi::testing {

using distributed::Partial;
using distributed::Placement;
using distributed::ProcessMesh;
using distributed::ReduceKind;
using distributed::Replicate;
using distributed::Shard;
using distributed::SpmdResult;
using distributed::TensorDistAttr;

namespace {

bool belong_together(const Trial& trial, const TensorList& parts) {
  std::vector<Dims> shapes;
  for (const Tensor& x : parts) shapes.push_back(x.defined() ? x.shape() : Dims());
  return !trial.takes || trial.takes(shapes);
}

// What the plain call on the parts gives, by output and rank; nothing where it refuses them.
std::optional<std::vector<std::vector<Part>>> plain_parts(const Trial& trial,
                                                          const ProcessMesh& mesh,
                                                          const InputLayout& layout) {
  std::vector<std::vector<Tensor>> parts;
  for (size_t i = 0; i < layout.size(); ++i) {
    parts.push_back(layout[i] ? parts_of(trial.inputs[i], *layout[i])
                              : std::vector<Tensor>(static_cast<size_t>(mesh.size())));
  }
  std::vector<std::vector<Part>> results(trial.expected.size());
  try {
    for (size_t rank = 0; rank < static_cast<size_t>(mesh.size()); ++rank) {
      TensorList here;
      for (const auto& of_slot : parts) here.push_back(of_slot[rank]);
      if (!belong_together(trial, here)) return std::nullopt;
      const TensorList outputs = trial.call(trial.with(here));
      if (outputs.size() != results.size()) return std::nullopt;
      for (size_t o = 0; o < outputs.size(); ++o) {
        if (outputs[o].defined() != trial.is_given[o]) return std::nullopt;
        if (outputs[o].defined()) results[o].push_back(part_of(outputs[o]));
      }
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return results;
}

// The placements on a mesh of one dim of which these are the parts, the cheapest first.
std::vector<Placement> placements_of(const Whole& expected, const ProcessMesh& mesh,
                                     const std::vector<Part>& parts, double tolerance) {
  std::vector<Placement> candidates = {Replicate()};
  for (int d = 0; d < expected.meta.dims.ndim(); ++d) candidates.push_back(Shard(d));
  if (expected.meta.dtype == DataType::BOOL) {
    candidates.insert(candidates.end(), {Partial(ReduceKind::kAny), Partial(ReduceKind::kAll)});
  } else if (is_complex(expected.meta.dtype)) {
    candidates.insert(candidates.end(), {Partial(ReduceKind::kSum), Partial(ReduceKind::kAvg)});
  } else {
    for (const auto kind :
         {ReduceKind::kSum, ReduceKind::kMax, ReduceKind::kMin, ReduceKind::kAvg}) {
      if (kind != ReduceKind::kAvg || is_floating(expected.meta.dtype))
        candidates.push_back(Partial(kind));
    }
  }
  std::erase_if(candidates, [&](const Placement& p) {
    return !difference(expected, *TensorDistAttr::get(mesh, {p}), parts, tolerance).empty();
  });
  return candidates;
}

// The same placements on another mesh of one dim.
InputLayout on(const ProcessMesh& mesh, const InputLayout& layout) {
  InputLayout result;
  for (const TensorDistAttr* attr : layout) {
    result.push_back(attr ? TensorDistAttr::get(mesh, attr->placements()) : nullptr);
  }
  return result;
}

// The inputs that move; bit by bit.
uint64_t moved(const Trial& trial, const InputLayout& layout, const SpmdResult& answer) {
  uint64_t slots = 0;
  for (size_t i = 0; i < layout.size(); ++i) {
    if (layout[i] == nullptr || layout[i] == answer.inputs[i] || (trial.unread >> i) & 1u) continue;
    if (!layout[i]->is_replicated()) slots |= uint64_t{1} << i;
  }
  return slots;
}

// By output, how it may lie where nothing is moved; empty if some output cannot.
std::vector<std::vector<Placement>> outputs_unmoved(const Trial& trial, const ProcessMesh& mesh,
                                                    const InputLayout& layout) {
  const auto parts = plain_parts(trial, mesh, layout);
  if (!parts) return {};
  std::vector<std::vector<Placement>> outputs;
  for (size_t o = 0; o < trial.expected.size(); ++o) {
    if (!trial.is_given[o]) continue;
    outputs.push_back(placements_of(trial.expected[o], mesh, (*parts)[o], trial.tolerance));
    if (outputs.back().empty()) return {};
  }
  return outputs;
}

// By output, what both have; empty if one has nothing.
std::vector<std::vector<Placement>> common(std::vector<std::vector<Placement>> a,
                                           const std::vector<std::vector<Placement>>& b) {
  if (a.size() != b.size()) return {};
  for (size_t o = 0; o < a.size(); ++o) {
    std::erase_if(a[o],
                  [&](const Placement& p) { return std::ranges::find(b[o], p) == b[o].end(); });
    if (a[o].empty()) return {};
  }
  return a;
}

bool same_parts(const Part& a, const Part& b, double tolerance) {
  if (a.shape != b.shape) return false;
  for (size_t i = 0; i < a.values.size(); ++i) {
    const double allowed = tolerance * std::max(1.0, std::abs(b.values[i]));
    if (std::isfinite(b.values[i]) ? !(std::abs(a.values[i] - b.values[i]) <= allowed)
                                   : !same_number(a.values[i], b.values[i])) {
      return false;
    }
  }
  return true;
}

// A multiple of a quarter, as the noise in parts, which is not 0 where v is not.
double coarse(double v) { return std::copysign(std::ceil(4 * std::abs(v)) / 4, v); }

// The values of all inputs of a dtype.
std::vector<double> pool_of(const Trial& trial, DataType dtype) {
  std::vector<double> pool;
  for (const Whole& x : trial.inputs) {
    if (x.meta.dtype == dtype) pool.insert(pool.end(), x.values.begin(), x.values.end());
  }
  return pool;
}

// The call on other values: those of each input in an order of its own, or, where `mixes`, of all
// floating inputs together and coarse, so that none stays below another and parts are often equal.
std::optional<Trial> shuffled(const Trial& trial, uint32_t seed, bool mixes) {
  std::mt19937 rng(seed);
  Trial other = trial;
  TensorList inputs;
  for (Whole& x : other.inputs) {
    const bool is_there = x.meta.dtype != DataType::UNDEFINED;
    if (is_there && mixes && is_floating(real_part_of(x.meta.dtype))) {
      const std::vector<double> pool = pool_of(trial, x.meta.dtype);
      for (double& v : x.values) v = coarse(pool[rng() % pool.size()]);
    }
    for (size_t i = x.values.size(); i > 1; --i) std::swap(x.values[i - 1], x.values[rng() % i]);
    inputs.push_back(is_there ? tensor_of(x.meta.dims, x.meta.dtype, x.values) : Tensor());
  }
  other.expected.clear();
  try {
    for (const Tensor& out : other.call(other.with(inputs))) {
      other.expected.push_back(out.defined() ? whole_of(out) : Whole());
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return other;
}

constexpr uint32_t kShuffles = 10;

// The same call on several values, so that what comes out right by chance does not stay so.
std::vector<Trial> on_other_values(const Trial& trial) {
  std::vector<Trial> others;
  for (uint32_t seed = 1; seed <= kShuffles; ++seed) {
    if (auto other = shuffled(trial, seed, seed % 2 == 0)) others.push_back(std::move(*other));
  }
  return others;
}

int64_t bytes_of(const Whole& x) {
  return x.meta.dims.numel() * static_cast<int64_t>(size_of(x.meta.dtype));
}

// Whether less is reduced where the partial inputs of `slots` are moved: outputs would be partial
// that have more bytes.
bool saves_bytes(const Trial& trial, const InputLayout& layout, uint64_t slots,
                 const std::vector<std::vector<Placement>>& outputs) {
  int64_t bytes = 0;
  for (size_t i = 0; i < layout.size(); ++i) {
    if (!((slots >> i) & 1u)) continue;
    if (!layout[i]->placement(0).is_partial()) return false;
    bytes += bytes_of(trial.inputs[i]);
  }
  size_t given = 0;
  for (size_t o = 0; o < trial.expected.size(); ++o) {
    if (!trial.is_given[o]) continue;
    if (outputs[given++][0].is_partial()) bytes -= bytes_of(trial.expected[o]);
  }
  return bytes < 0;
}

// Behind the outputs.
constexpr std::string_view kSaves = ", which is more)";

// Of inputs that move, whether they need to: on meshes of two and of three ranks, on all values.
std::string needless_moves(const Trial& trial, const std::vector<Trial>& others,
                           const InputLayout& layout) {
  static const ProcessMesh two({2}), three({3});
  const SpmdResult answer = trial.infer(two, layout);
  const uint64_t slots = moved(trial, layout, answer);
  if (slots == 0) return "";
  const auto on_two = outputs_unmoved(trial, two, layout);
  if (on_two.empty()) return "";
  const InputLayout larger = on(three, layout);
  if (moved(trial, larger, trial.infer(three, larger)) != slots) return "";
  auto outputs = common(on_two, outputs_unmoved(trial, three, larger));
  for (const Trial& other : others) {
    if (outputs.empty()) return "";
    outputs = common(outputs, outputs_unmoved(other, two, layout));
  }
  if (outputs.empty()) return "";
  std::string what;
  for (size_t i = 0; i < layout.size(); ++i) {
    if (!((slots >> i) & 1u)) continue;
    what += fmt::format("{}{} {} to {}", what.empty() ? "" : ", ", trial.slot_names[i],
                        layout[i]->placement(0).to_string(),
                        answer.inputs[i]->placement(0).to_string());
  }
  std::string out;
  for (const auto& of_output : outputs) {
    out += (out.empty() ? "" : ", ") + of_output[0].to_string();
  }
  const bool saves = saves_bytes(trial, layout, slots, outputs);
  return what + " (out: " + out + (saves ? std::string(kSaves) : ")");
}

bool is_local(const Trial& trial, const ProcessMesh& mesh, const InputLayout& layout,
              const Verdict& verdict) {
  if (layout.empty() || !std::ranges::equal(layout, trial.infer(mesh, layout).inputs)) return true;
  const auto plain = plain_parts(trial, mesh, layout);
  if (!plain) return false;
  for (size_t o = 0; o < plain->size(); ++o) {
    for (size_t r = 0; r < (*plain)[o].size(); ++r) {
      if (!same_parts((*plain)[o][r], verdict.parts[o][r], trial.tolerance)) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<Study> studied(const Trial& trial, const ProcessMesh& mesh,
                           const std::vector<InputLayout>& layouts,
                           const std::vector<Verdict>& verdicts) {
  const bool asks_moves = mesh.size() == 2;
  const std::vector<Trial> others = asks_moves ? on_other_values(trial) : std::vector<Trial>();
  const auto answers = run_in_child(layouts.size(), [&](size_t q) -> std::string {
    if (verdicts[q].kind != Verdict::Kind::kRight) return "1";
    return (is_local(trial, mesh, layouts[q], verdicts[q]) ? "1" : "0") +
           (asks_moves ? needless_moves(trial, others, layouts[q]) : "");
  });
  std::vector<Study> studies(layouts.size());
  for (size_t q = 0; q < layouts.size(); ++q) {
    Study& study = studies[q];
    if (asks_moves && verdicts[q].kind == Verdict::Kind::kRight) {
      study.moves.any = moved(trial, layouts[q], trial.infer(mesh, layouts[q])) != 0;
    }
    if (!answers[q]) continue;
    study.is_local = (*answers[q])[0] == '1';
    study.moves.what = answers[q]->substr(1);
    study.moves.needless = !study.moves.what.empty();
    study.moves.saves = study.moves.what.ends_with(kSaves);
  }
  return studies;
}

}  // namespace phi::testing
