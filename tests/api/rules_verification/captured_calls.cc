// Taking calls down while the tables run in one process.
#include "tests/api/rules_verification/captured_calls.h"

#include <cstring>
#include <memory>
#include <set>

#include "api/call/call_recorder.h"
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

class CallCapture final : public CallRecorder {
 public:
  CallCapture() { RankContext::current().observe_calls(this); }
  ~CallCapture() override { RankContext::current().observe_calls(nullptr); }
  CallCapture(const CallCapture&) = delete;
  CallCapture& operator=(const CallCapture&) = delete;

  std::vector<CapturedCall> take() { return std::exchange(calls_, {}); }

  std::unique_ptr<RecordedCall> begin(const OpDef& op, const CallSlots& inputs) override {
    return std::make_unique<OneCall>(*this, op, inputs);
  }
  void used(const Tensor&) override {}
  void alias(const Tensor&, const Tensor&) override {}

 private:
  class OneCall final : public RecordedCall {
   public:
    OneCall(CallCapture& capture, const OpDef& op, const CallSlots& inputs) : capture_(capture) {
      call_.op = &op;
      for (size_t a = 0; a < inputs.begin.size(); ++a) {
        const auto first = static_cast<size_t>(inputs.begin[a]);
        const size_t end = a + 1 < inputs.begin.size() ? static_cast<size_t>(inputs.begin[a + 1])
                                                       : inputs.tensors.size();
        TensorList& argument = call_.arguments.emplace_back();
        for (size_t i = first; i < end; ++i) {
          argument.push_back(kept(*inputs.tensors[i], (op.meta_only >> a) & 1u));
        }
      }
    }
    bool is_outermost() const override { return true; }
    void set_decision(const Decision&) override {}
    void set_outputs(const std::vector<AttributeValue>& attributes, const CallSlots&) override {
      call_.attributes = attributes;
      capture_.calls_.push_back(std::move(call_));
    }

   private:
    CallCapture& capture_;
    CapturedCall call_;
  };

  std::vector<CapturedCall> calls_;
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
