// Taking calls down while the tables run in one process.
#include "tests/api/rules_verification/captured_calls.h"

#include <cstring>
#include <set>
#include <utility>

#include "api/call/call_events.h"
#include "phi/core/observer_scope.h"
#include "tests/api/op_gradients.h"

namespace phi::testing {
namespace {

Tensor kept(const Tensor& x, bool is_unread) {
  if (!x.defined()) return {};
  if (!is_unread) return Tensor(x.dense().clone());
  DenseTensor zeros = DenseTensor::empty(x.meta(), x.place());
  std::memset(zeros.mutable_raw_data(), 0, zeros.nbytes());
  return Tensor(zeros);
}

class CallCapture final : public Observer {
 public:
  std::vector<CapturedCall> take() { return std::exchange(calls_, {}); }

  void on_call_begin(const CallBegin& event) override {
    CapturedCall& call = open_calls_.emplace_back();
    call.op = &event.op;
    const CallSlots& inputs = event.inputs;
    for (size_t a = 0; a < inputs.begin.size(); ++a) {
      const auto first = static_cast<size_t>(inputs.begin[a]);
      const size_t end = a + 1 < inputs.begin.size() ? static_cast<size_t>(inputs.begin[a + 1])
                                                     : inputs.tensors.size();
      TensorList& argument = call.arguments.emplace_back();
      for (size_t i = first; i < end; ++i) {
        argument.push_back(kept(*inputs.tensors[i], (event.op.meta_only >> a) & 1u));
      }
    }
  }
  void on_call_outputs(const CallOutputs& event) override {
    open_calls_.back().attributes = event.attributes;
    calls_.push_back(std::move(open_calls_.back()));
  }
  void on_call_end(const CallEnd&) noexcept override { open_calls_.pop_back(); }

 private:
  std::vector<CapturedCall> open_calls_;
  std::vector<CapturedCall> calls_;
  ObserverScope scope_{*this};
};

std::vector<CapturedCall> calls_of(const ParityCase& test) {
  CallCapture capture;
  test.call(test.inputs);
  if (is_differentiable(test)) gradients(test, test.inputs);
  return capture.take();
}

}  // namespace

std::string to_string(const CapturedCall& call) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const TensorList& argument : call.arguments) {
    for (const Tensor& x : argument) add(x.defined() ? x.meta().to_string() : "none");
  }
  for (size_t i = 0; i < call.attributes.size(); ++i) {
    add(std::string(call.op->attributes[i].name) + "=" + to_text(call.attributes[i]));
  }
  return text;
}

std::vector<CapturedCall> captured_calls(const std::vector<OpTable>& tables) {
  std::vector<CapturedCall> all;
  std::set<std::string> seen;
  for (const OpTable& table : tables) {
    const std::vector<ParityCase> cases = table.cases();
    for (const ParityCase& test : cases) {
      for (CapturedCall& call : calls_of(test)) {
        call.origin = test.name;
        call.is_rare = std::string_view(table.name).starts_with("Rare");
        std::string key = std::string(call.op->name) + " " + to_string(call);
        if (!table.is_smooth) key += " in " + test.name;
        if (seen.insert(std::move(key)).second) all.push_back(std::move(call));
      }
    }
  }
  return all;
}

}  // namespace phi::testing
