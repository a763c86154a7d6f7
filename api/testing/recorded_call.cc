// Runs recorded calls and compares their results.
#include "api/testing/recorded_call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <random>

#include "api/autograd/autograd.h"
#include "api/call/named_call.h"
#include "api/generated/ops/assign.h"
#include "api/rules/op_rule.h"
#include "api/testing/missing_kernel.h"
#include "api/testing/placement_choices.h"
#include "api/testing/recorded_values.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/common/errors.h"
#include "phi/common/inexact.h"
#include "phi/core/device/device.h"
#include "phi/core/device/host_array.h"

namespace phi::testing {
namespace {

using distributed::ProcessMesh;
using Argument = RecordedCall::Argument;

const Argument* find(const RecordedCall::ByName& list, std::string_view name) {
  const auto it = std::ranges::find(list, name, [](const auto& entry) { return entry.first; });
  return it == list.end() ? nullptr : &it->second;
}

bool can_have_gradient(const Tensor& x) { return x.defined() && is_inexact(x.dtype()); }

// The value of an attribute that was recorded as a tensor of one element, or as a list.
AttributeValue attribute_of(const Tensor& x, AttributeKind kind) {
  std::vector<double> values;
  visit_dtype(x.dtype(), [&]<typename T>() {
    for (const T v : x.to_vector<T>()) values.push_back(static_cast<double>(convert_number(v)));
  });
  const bool whole = !is_floating(x.dtype());
  if (kind == AttributeKind::kInts) return std::vector<int64_t>(values.begin(), values.end());
  if (kind == AttributeKind::kFloats) return values;
  PHI_CHECK(values.size() == 1, errors::InvalidArgument("{} elements are not an attribute: {}.",
                                                        values.size(), x.to_string()));
  if (whole) return static_cast<int64_t>(values[0]);
  return values[0];
}

/// One run of a call: its arguments and results.
class CallRun {
 public:
  using PlaceFunction = std::function<Tensor(const Tensor&)>;

  /// `place` converts each recorded tensor into an argument.
  CallRun(const RecordedCall& call, const CallNames& names, const PlaceFunction& place)
      : call_(call), names_(names) {
    for (const std::string& name : names.tensors) add_argument(name, place);
    attributes_ = call.attributes;
    for (const auto& [name, tensors] : call.in) add_as_attribute(name, tensors);
    results_ = names.is_operator ? call_op(call.op, arguments_, attributes_) : call_function();
  }

  /// The tensors of an output, lists in order; empty for names that the operator lacks.
  TensorList output(const std::string& name) const {
    size_t at = 0;
    for (size_t i = 0; i < names_.outputs.size(); ++i) {
      const size_t count = size_of_output(i);
      if (names_.outputs[i] == name) {
        if (at + count > results_.size()) return {};
        const auto first = results_.begin() + static_cast<std::ptrdiff_t>(at);
        return {first, first + static_cast<std::ptrdiff_t>(count)};
      }
      at += count;
    }
    return {};
  }

  /// Gradients of the recorded arguments, in order. Cotangents get the placements of their outputs.
  TensorList gradients(const PlaceFunction& place) const {
    TensorList outputs, cotangents;
    for (const auto& [name, given] : call_.grad_of_out) {
      const TensorList outs = output(name);
      for (size_t i = 0; i < std::min(outs.size(), given.values.size()); ++i) {
        if (!given.values[i].defined() || !outs[i].defined() || !outs[i].requires_grad()) continue;
        outputs.push_back(outs[i]);
        cotangents.push_back(place(given.values[i]));
      }
    }
    if (outputs.empty()) return TensorList(leaves_.size());
    return grad(outputs, leaves_, cotangents);
  }
  const std::vector<std::string>& differentiated() const { return leaf_names_; }

 private:
  void add_argument(const std::string& name, const PlaceFunction& place) {
    const Argument* given = find(call_.in, name);
    TensorList list;
    if (given == nullptr) list.emplace_back();
    const bool wanted = find(call_.grad, name) != nullptr;
    for (size_t i = 0; given && i < given->values.size(); ++i) {
      list.push_back(given->values[i].defined() ? prepared(place(given->values[i]), name, wanted)
                                                : Tensor());
    }
    arguments_.push_back(std::move(list));
  }
  // Arguments that the operator writes to are copied and are no leaves.
  Tensor prepared(Tensor x, const std::string& name, bool wanted) {
    if (wanted && can_have_gradient(x)) {
      x = x.detach();
      x.set_requires_grad();
      leaves_.push_back(x);
      leaf_names_.push_back(name);
    }
    return call_.op.ends_with('_') ? assign(x) : x;
  }
  void add_as_attribute(const std::string& name, const Argument& tensors) {
    if (std::ranges::find(names_.tensors, name) != names_.tensors.end()) return;
    const auto attribute =
        std::ranges::find(names_.attributes, name, &CallNames::NamedAttribute::name);
    if (tensors.values.empty() || !tensors.values[0].defined()) return;
    PHI_CHECK(attribute != names_.attributes.end(),
              errors::NotFound("{} has no argument '{}', for which a tensor was recorded.",
                               call_.op, name));
    attributes_.emplace_back(name, attribute_of(tensors.values[0], attribute->kind));
  }
  TensorList call_function() const {
    std::vector<AttributeValue> values;
    for (const auto& [name, value] : attributes_) values.push_back(value);
    return phi::call_function(call_.op, arguments_, values);
  }
  // A list has its recorded length. If the only output is not recorded, it has all results.
  size_t size_of_output(size_t i) const {
    const size_t size = recorded_size(i);
    if (!is_absent(i)) return size;
    // An absent output is one undefined tensor or an empty list; the number of results decides.
    size_t all = 0;
    for (size_t k = 0; k < names_.outputs.size(); ++k) all += recorded_size(k);
    return all <= results_.size() ? size : 0;
  }
  size_t recorded_size(size_t i) const {
    if (const Argument* recorded = find(call_.out, names_.outputs[i])) {
      return recorded->is_list ? recorded->values.size() : 1;
    }
    return names_.outputs.size() == 1 ? results_.size() : 1;
  }
  bool is_absent(size_t i) const {
    const Argument* recorded = find(call_.out, names_.outputs[i]);
    return recorded && !recorded->is_list && !recorded->values[0].defined();
  }

  const RecordedCall& call_;
  const CallNames& names_;
  std::vector<TensorList> arguments_;
  std::vector<std::pair<std::string, AttributeValue>> attributes_;
  TensorList leaves_;
  std::vector<std::string> leaf_names_;
  TensorList results_;
};

double tolerance_of(const RecordedCall& call, const Tensor& expected) {
  return call.tolerance.value_or(usual_tolerance(expected.dtype()));
}

using Whole = std::function<Tensor(const Tensor&)>;

std::string wrong_element(const RecordedCall& call, const std::string& what, const Tensor& got,
                          const Tensor& expected, Freedom freedom) {
  const std::string wrong = compare_values(got, expected, tolerance_of(call, expected), freedom);
  return wrong.empty() ? "" : fmt::format("{}: {}", what, wrong);
}

std::string wrong_outputs(const RecordedCall& call, const CallNames& names, const CallRun& run,
                          const Whole& whole) {
  for (const auto& [name, expected] : call.out) {
    const TensorList got = run.output(name);
    if (!expected.is_list && got.empty() && !expected.values[0].defined()) continue;
    if (got.size() != expected.values.size()) {
      return fmt::format("{}: expected {} tensors, got {} (outputs here: {})", name,
                         expected.values.size(), got.size(), fmt::join(names.outputs, ", "));
    }
    for (size_t i = 0; i < got.size(); ++i) {
      if (!expected.values[i].defined()) continue;
      const std::string what = expected.is_list ? fmt::format("{}[{}]", name, i) : name;
      std::string wrong = wrong_element(call, what, got[i].defined() ? whole(got[i]) : got[i],
                                        expected.values[i], freedom_of(call.op, name));
      if (!wrong.empty()) return wrong;
    }
  }
  return "";
}

std::string wrong_gradients(const RecordedCall& call, const CallRun& run,
                            const CallRun::PlaceFunction& place, const Whole& whole) {
  if (call.grad_of_out.empty()) return "";
  const TensorList got = run.gradients(place);
  std::map<std::string, size_t> seen;
  for (size_t i = 0; i < got.size(); ++i) {
    const std::string& name = run.differentiated()[i];
    const Argument& list = *find(call.grad, name);
    const size_t at = seen[name]++;
    const Tensor expected = at < list.values.size() ? list.values[at] : Tensor();
    const Tensor value = got[i].defined() ? whole(got[i]) : Tensor();
    if (!expected.defined()) {
      if (value.defined() && !is_zero(value)) {
        return fmt::format("gradient of {}: expected none, got {}", name, text_of_values(value));
      }
      continue;
    }
    if (!value.defined() && is_zero(expected)) continue;
    std::string wrong = wrong_element(call, "gradient of " + name, value, expected, Freedom::kNone);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

/// Whether a rank waited for others in vain, until the deadline or until they had left: they may
/// have refused the call and left this one waiting.
bool is_late(const Error& error) {
  return error.code() == ErrorCode::kExecutionTimeout || error.code() == ErrorCode::kUnavailable;
}

/// Whether the error is a missing GPU kernel, which says nothing about the call. A call that must
/// refuse a dtype may fail for this reason.
bool is_no_answer(const RecordedCall& call, const Error& error) {
  return call.refused != RecordedCall::Refused::kDtype && is_missing_on_gpus(error);
}

/// Placement of a run's tensors.
struct RunLayout {
  CallRun::PlaceFunction place;
  CallRun::PlaceFunction place_like;  // of cotangents
  Whole whole;
  /// A GPU reports an error to its own rank only; the rank must pass it on to the others.
  bool is_on_gpus_of_ranks = false;
};

std::string compare_one_run(const RecordedCall& call, const CallNames& names,
                            const RunLayout& layout) {
  try {
    const CallRun run(call, names, layout.place);
    // A device reports some errors only at the next synchronisation.
    Device& device = Device::of(RankContext::current().place());
    device.wait();
    if (call.refused == RecordedCall::Refused::kCall) {
      return "expected an error, got a result";
    }
    if (call.refused == RecordedCall::Refused::kDtype) return "";
    std::string wrong = wrong_outputs(call, names, run, layout.whole);
    if (wrong.empty()) wrong = wrong_gradients(call, run, layout.place_like, layout.whole);
    device.wait();
    return wrong;
  } catch (const Error& error) {
    if (is_late(error) || layout.is_on_gpus_of_ranks || is_no_answer(call, error)) throw;
    return call.refused == RecordedCall::Refused::kNo
               ? fmt::format("unexpected error: {}", error.what())
               : "";
  }
}

TensorList defined_of(const RecordedCall& call) {
  TensorList all;
  for (const auto& [name, tensors] : call.in) {
    for (const Tensor& x : tensors.values) {
      if (x.defined()) all.push_back(x);
    }
  }
  return all;
}

}  // namespace

CallNames names_of_call(std::string_view op) {
  const OpRule& rule = rules::find(op);
  CallNames names;
  for (const auto& tensor : rule.tensors()) names.tensors.emplace_back(tensor.name);
  for (const auto& attribute : rule.attributes()) {
    names.attributes.push_back({attribute.name, attribute.kind});
  }
  for (const char* output : rule.outputs()) names.outputs.emplace_back(output);
  return names;
}

Freedom freedom_of(std::string_view op, std::string_view output) {
  if ((op == "eigh" || op == "eig") && output == "out_v") return Freedom::kColumnFactors;
  if (op == "svd" && output == "u") return Freedom::kColumnFactors;
  return op == "svd" && output == "vh" ? Freedom::kRowFactors : Freedom::kNone;
}

std::string compare_run(const RecordedCall& call, const CallNames& names) {
  const Place& here = RankContext::current().place();
  const auto placed = [&here](const Tensor& x) {
    return x.place() == here ? x : Tensor(DenseTensor::from(x.meta(), x.dense().raw_data()));
  };
  const auto as_it_is = [](const Tensor& x) { return x; };
  return compare_one_run(call, names, {placed, placed, as_it_is});
}

std::string compare_distributed_run(const RecordedCall& call, const CallNames& names,
                                    const MeshChoice& choice) {
  const ProcessMesh& mesh = choice.mesh;
  std::mt19937 rng(choice.seed);
  const TensorList inputs = defined_of(call);
  // Tensors written in place cannot be partial sums, and a sum with 0 loses the sign of -0.
  const bool partial = !call.op.ends_with('_') && std::ranges::none_of(inputs, has_negative_zero);
  const auto choices = placement_choices(inputs, mesh.ndim(), partial, choice.placements, rng);
  std::mutex mutex;
  std::string first;
  for (const PlacementChoice& placements : choices) {
    bool is_refused = false;  // by the rank that holds a wrong value; ends the job
    const auto on_rank = [&](distributed::World& world) {
      if (choice.on_gpus) distributed::use_gpu({.messages = distributed::GpuMessages::kHost});
      size_t next = 0;
      const auto place = [&](const Tensor& x) {
        return distributed::shard_tensor(x, mesh, placements[next++]);
      };
      const auto replicated = [&](const Tensor& x) {
        return distributed::shard_tensor(x, mesh, {});
      };
      const auto whole = [&](const Tensor& x) {
        return x.is_dist() ? distributed::reshard(x.detach(), mesh, {}).local() : x;
      };
      const std::string wrong =
          compare_one_run(call, names, {place, replicated, whole, choice.on_gpus});
      const std::lock_guard lock(mutex);
      is_refused |= call.refused == RecordedCall::Refused::kCall && wrong.empty();
      if (!wrong.empty() && first.empty()) {
        first = fmt::format("{} on {}, rank {}: {}", to_string(placements), mesh.to_string(),
                            world.rank(), wrong);
      }
    };
    try {
      distributed::run_ranks(mesh.size(), on_rank);
    } catch (const Error& error) {
      if (first.empty() && is_no_answer(call, error)) throw;
      if (choice.on_gpus && call.refused != RecordedCall::Refused::kNo) is_refused = true;
      if (is_late(error)) is_refused = false;
      if (first.empty()) first = fmt::format("{}: {}", to_string(placements), error.what());
    }
    if (is_refused) first.clear();
    if (!first.empty()) return first;
  }
  return "";
}

std::string to_string(const RecordedCall& call) {
  std::vector<std::string> arguments;
  for (const auto& [name, tensors] : call.in) {
    std::vector<std::string> metas;
    for (const Tensor& x : tensors.values) metas.push_back(x.defined() ? x.to_string() : "none");
    arguments.push_back(tensors.is_list ? fmt::format("{}: [{}]", name, fmt::join(metas, ", "))
                                        : fmt::format("{}: {}", name, fmt::join(metas, "")));
  }
  for (const auto& [name, value] : call.attributes) {
    arguments.push_back(fmt::format("{}={}", name, to_text(value)));
  }
  return fmt::format("{}({})", call.op, fmt::join(arguments, ", "));
}

}  // namespace phi::testing
