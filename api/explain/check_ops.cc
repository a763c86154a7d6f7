// Gathers inputs, repeats calls and compares outputs.
#include "api/explain/check_ops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "api/call/call_events.h"
#include "api/call/decision.h"
#include "api/call/named_call.h"
#include "api/explain/call_names.h"
#include "api/explain/explanation_text.h"
#include "api/tensor/deferred.h"
#include "distributed/reshard/execute.h"
#include "phi/autograd/grad_mode.h"
#include "phi/common/dtype.h"
#include "phi/common/errors.h"
#include "phi/common/inexact.h"
#include "phi/core/device/host_array.h"
#include "phi/core/observer_scope.h"

namespace phi {

using distributed::TensorDistAttr;

namespace {

double step_of(DataType dtype) {
  switch (real_part_of(dtype)) {
    case DataType::FLOAT64:
      return std::numeric_limits<double>::epsilon();
    case DataType::FLOAT32:
      return std::numeric_limits<float>::epsilon();
    case DataType::FLOAT16:
      return 0x1p-10;
    case DataType::BFLOAT16:
      return 0x1p-7;
    default:
      return 0.0;
  }
}

template <typename T>
double as_double(const T& value) {
  if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return static_cast<double>(value);
  }
}

// The numbers of an array; a complex element is two, its real and imaginary parts.
template <typename T>
auto numbers_of(const DenseTensor& x) {
  if constexpr (kIsComplex<T>) {
    using Part = typename T::value_type;
    const auto values = x.values<T>();
    return std::span(reinterpret_cast<const Part*>(values.data()), 2 * values.size());
  } else {
    return x.values<T>();
  }
}

// The largest magnitude of the finite elements.
double largest_magnitude(const Tensor& x) {
  double largest = 0.0;
  visit_any_dtype(x.dtype(), [&]<typename T>() {
    const HostArray values(x.dense(), HostArray::kRead);
    for (const auto& value : numbers_of<T>(values.array())) {
      const double magnitude = std::abs(as_double(value));
      if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
    }
  });
  return largest;
}

struct Difference {
  double largest = 0.0;  // infinite if only one of the two is finite
  int64_t element = -1;  // -1: there is none
  double got = 0.0;
  double expected = 0.0;
};

Difference difference_of(const Tensor& got, const Tensor& expected) {
  Difference worst;
  visit_any_dtype(got.dtype(), [&]<typename T>() {
    const HostArray got_array(got.dense(), HostArray::kRead);
    const HostArray expected_array(expected.dense(), HostArray::kRead);
    const auto a = numbers_of<T>(got_array.array());
    const auto b = numbers_of<T>(expected_array.array());
    constexpr size_t kParts = kIsComplex<T> ? 2 : 1;
    for (size_t i = 0; i < a.size(); ++i) {
      const double x = as_double(a[i]);
      const double y = as_double(b[i]);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      const double d = std::isfinite(x) && std::isfinite(y)
                           ? std::abs(x - y)
                           : std::numeric_limits<double>::infinity();
      if (d <= worst.largest) continue;
      worst = {d, static_cast<int64_t>(i / kParts), x, y};
    }
  });
  return worst;
}

// The unsharded value as a plain tensor with its own bytes; undefined on a rank outside the mesh.
Tensor gathered(const Tensor& x, const distributed::ProcessMesh& mesh) {
  const auto whole = distributed::reshard(x.dist(), TensorDistAttr::replicated(mesh));
  if (!mesh.contains(RankContext::current().rank())) return {};
  return Tensor(whole.local().clone());
}

// A distributed call, from its decision to its outputs.
class CheckedCall {
 public:
  CheckedCall(const NamesByStorage& names, const OpDef& op, const CallSlots& inputs)
      : names_(names), op_(op), inputs_(inputs) {}

  // At this point the call has not written anything.
  void set_decision(const Decision& decision) {
    const SuspendObservers suspended;
    mesh_ = decision.mesh();
    for (size_t i = 0; i < inputs_.tensors.size(); ++i) {
      const Tensor& x = *inputs_.tensors[i];
      whole_.push_back(whole_input(x, is_unread(i)));
      if (x.defined()) {
        described_.push_back(
            fmt::format("{} {} {} as {}", name_of_slot(op_, inputs_, i), x.meta().to_string(),
                        explanation_text::placements(x.is_dist() ? x.dist_attr() : nullptr),
                        explanation_text::placements(decision.input(i).attr)));
        const std::string value = names_.of(array_of(x));
        if (!value.empty()) described_.back() += " (" + value + ")";
      }
    }
  }

  /// Returns whether this rank compared the outputs.
  bool check(const std::vector<AttributeValue>& attributes, const CallSlots& outputs) const {
    if (!mesh_.defined()) return false;
    const SuspendObservers suspended;
    TensorList got;
    for (const Tensor* out : outputs.tensors) got.push_back(whole_output(*out));
    if (!mesh_.contains(RankContext::current().rank())) return false;
    const TensorList expected = repeated(attributes);
    PHI_CHECK(
        expected.size() == got.size(),
        errors::Internal("[{}] returns {} tensors, but {} when it is repeated in one process.",
                         op_.name, got.size(), expected.size()));
    for (size_t i = 0; i < got.size(); ++i) compare(*outputs.tensors[i], got[i], expected[i], i);
    return true;
  }

 private:
  // An input of which only the shape is used may have no bytes.
  Tensor whole_input(const Tensor& x, bool is_unread) const {
    if (!x.defined()) return {};
    if (is_unread) return deferred_full(x.shape(), 0.0, x.dtype());
    return x.is_dist() ? gathered(x, mesh_) : x.detach();
  }
  Tensor whole_output(const Tensor& x) const {
    if (!x.defined()) return {};
    return x.is_dist() ? gathered(x, mesh_) : x.detach();
  }

  bool is_unread(size_t slot) const {
    const size_t arg = argument_of(inputs_, slot);
    return (op_.meta_only >> arg) & 1u;
  }

  TensorList repeated(const std::vector<AttributeValue>& attributes) const {
    const autograd::GradMode no_grad(false);
    std::vector<TensorList> arguments;
    for (size_t arg = 0; arg < inputs_.begin.size(); ++arg) {
      const auto begin = static_cast<size_t>(inputs_.begin[arg]);
      arguments.emplace_back(whole_.begin() + static_cast<ptrdiff_t>(begin),
                             whole_.begin() + static_cast<ptrdiff_t>(end_of(inputs_, arg)));
    }
    return call_op(op_, std::move(arguments), attributes);
  }

  void compare(const Tensor& out, const Tensor& got, const Tensor& expected, size_t i) const {
    if (!got.defined() || !expected.defined()) return;  // a gradient that is not needed
    PHI_CHECK(got.meta() == expected.meta(),
              errors::Internal("{} is {}, but {} in one process.", subject(out, i),
                               got.meta().to_string(), expected.meta().to_string()));
    const Difference worst = difference_of(got, expected);
    const double most = tolerance(expected);
    PHI_CHECK(worst.element < 0 || worst.largest <= most,
              errors::Internal("{} differs from the same call in one process by {:.6g} at element "
                               "{}: {:.9g}, not {:.9g}; {:.3g} may be rounding.\n  inputs: {}{}",
                               subject(out, i), worst.largest, worst.element, worst.got,
                               worst.expected, most, fmt::join(described_, ", "), place()));
  }

  // The tolerance that check_ops.h defines.
  double tolerance(const Tensor& expected) const {
    if (!is_inexact(expected.dtype())) return 0.0;
    double step = step_of(expected.dtype());
    const auto is_double = [](const Tensor& x) {
      return real_part_of(x.dtype()) == DataType::FLOAT64;
    };
    double in_sums = is_double(expected) ? step : step_of(DataType::FLOAT32);
    double largest_input = 0.0;
    int64_t elements = 1;
    for (const Tensor& x : whole_) {
      if (!x.defined() || !is_inexact(x.dtype())) continue;
      step = std::max(step, step_of(x.dtype()));
      if (!is_double(x)) in_sums = step_of(DataType::FLOAT32);
      elements = std::max(elements, x.shape().numel());
      largest_input = std::max(largest_input, largest_magnitude(x));
    }
    const double n = static_cast<double>(elements);
    const double share =
        std::max(1.0, n / static_cast<double>(std::max<int64_t>(1, expected.shape().numel())));
    return (4 * step + 8 * std::sqrt(n) * in_sums) * largest_magnitude(expected) +
           share * in_sums * largest_input;
  }

  std::string subject(const Tensor& out, size_t i) const {
    const std::string name =
        op_.outputs.empty() ? "out" : op_.outputs[std::min(i, op_.outputs.size() - 1)];
    return fmt::format("[{}] rank {}: output {} {}", op_.name, RankContext::current().rank(), name,
                       out.to_string());
  }
  std::string place() const {
    const std::string where = current_place();
    return where.empty() ? "" : "\n  at " + where;
  }

  const NamesByStorage& names_;
  const OpDef& op_;
  const CallSlots& inputs_;
  distributed::ProcessMesh mesh_;  // undefined: not decided
  TensorList whole_;
  std::vector<std::string> described_;
};

class OpsChecker final : public Observer {
 public:
  explicit OpsChecker(const TensorNames& names) : names_(names), scope_(*this) {}

  void on_call_begin(const CallBegin& event) override {
    open_calls_.emplace_back(names_, event.op, event.inputs);
  }
  void on_decision(const CallDecision& event) override {
    open_calls_.back().set_decision(event.decision);
  }
  void on_call_outputs(const CallOutputs& event) override {
    if (open_calls_.back().check(event.attributes, event.outputs)) ++checked_;
  }
  void on_call_end(const CallEnd&) noexcept override { open_calls_.pop_back(); }
  int64_t checked() const { return checked_; }

 private:
  const NamesByStorage names_;
  std::deque<CheckedCall> open_calls_;  // each nested in the previous one
  int64_t checked_ = 0;
  const ObserverScope scope_;
};

}  // namespace

int64_t check_ops(const std::function<void()>& f, const TensorNames& names) {
  PHI_CHECK(!RankContext::current().recorder(),
            errors::PreconditionNotMet(
                "check_ops is called within a function that is being captured, whose tensors have "
                "no values; check the function in a call outside of the capture."));
  const OpsChecker checker(names);
  f();
  return checker.checked();
}

}  // namespace phi
