// Captures a model with a call of `assign` at each activation slot, and turns these into moves.
#include "api/planning/placing/model_graph.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "api/autograd/autograd.h"
#include "api/capture/record.h"
#include "api/generated/ops/assign.h"
#include "api/nn/activation_scope.h"
#include "api/nn/layout/shard.h"
#include "distributed/comm/dry/dry_world.h"
#include "phi/common/errors.h"

namespace phi::planning {
namespace {

using distributed::planner::kAbsent;
using distributed::planner::OpGraph;
using distributed::planner::TensorId;

struct Mark {
  std::string path;
  nn::ActivationSlot activation;
};

// A recording, and the slots that its values are the activations of.
struct MarkedRecording {
  std::shared_ptr<ir::Recording> recording;
  std::unordered_map<ir::ValueId, Mark> marks;
};

MarkedRecording record_marked(const nn::Module& model, const LossFunction& loss,
                              const TensorList& inputs) {
  MarkedRecording out;
  const nn::ActivationScope scope(
      model, [&](const nn::Module& module, nn::ActivationSlot activation, const Tensor& x) {
        const Tensor marked = assign(x);
        out.marks[ir::Recording::current()->value_of(marked)] = {module.path(), activation};
        return marked;
      });
  const auto function = [&](const TensorList& in) {
    const NoGrad no_grad;
    return TensorList{loss(in)};
  };
  out.recording = ir::record(function, inputs, ir::ScanMode::kUnrolled);
  return out;
}

class GraphBuilder {
 public:
  GraphBuilder(const nn::Module& model, const MarkedRecording& marked)
      : model_(model), body_(marked.recording->body()), marks_(marked.marks) {
    tensors_.resize(body_.values.size(), kAbsent);
  }

  ModelGraph build(const ir::Recording& recording, size_t num_inputs) {
    for (size_t i = 0; i < num_inputs; ++i) {
      out_.inputs.push_back(add_tensor(body_.inputs[i], "input " + std::to_string(i)));
    }
    add_parameters(recording);
    for (const ir::External& constant : recording.constants())
      add_tensor(constant.value, "a constant");
    for (const ir::Operation& operation : body_.operations) add(operation);
    out_.graph.loss = tensors_[static_cast<size_t>(body_.outputs[0])];
    return std::move(out_);
  }

 private:
  const TensorMeta& meta(ir::ValueId value) const {
    return body_.values[static_cast<size_t>(value)].meta;
  }
  TensorId add_tensor(ir::ValueId value, std::string name) {
    if (value == ir::kAbsent) return kAbsent;
    const TensorMeta& own = meta(value);
    out_.graph.tensors.push_back({std::move(name), own.dims, own.dtype});
    return tensors_[static_cast<size_t>(value)] =
               static_cast<TensorId>(out_.graph.tensors.size() - 1);
  }
  TensorId tensor(ir::ValueId value) const {
    return value == ir::kAbsent ? kAbsent : tensors_[static_cast<size_t>(value)];
  }

  void add_parameters(const ir::Recording& recording) {
    const nn::NamedTensors named = model_.named_parameters();
    const std::vector<nn::ParameterGroup> groups = model_.groups();
    out_.parameters.resize(named.size(), kAbsent);
    for (const ir::External& external : recording.parameters()) {
      const auto own = std::ranges::find_if(named, [&](const auto& each) {
        return each.second.identity() == external.handle.identity();
      });
      if (own == named.end()) {
        add_tensor(external.value, "a tensor of the program");
        continue;
      }
      const auto index = static_cast<size_t>(own - named.begin());
      out_.parameters[index] = add_tensor(external.value, own->first);
      out_.graph.tensors.back().is_trained = groups[index].trained;
    }
  }

  void add(const ir::Operation& operation) {
    if (operation.kind == ir::OperationKind::kMove) return add_move(operation);
    const auto mark =
        operation.outputs.size() == 1 ? marks_.find(operation.outputs[0]) : marks_.end();
    if (mark != marks_.end()) return add_point(operation, mark->second);
    OpGraph::OpCall call{.kind = kind_of(operation)};
    for (const ir::ValueId value : operation.inputs) call.inputs.push_back(tensor(value));
    for (const ir::ValueId value : operation.outputs)
      call.outputs.push_back(add_tensor(value, std::string("a result of ") + operation.op->name));
    out_.graph.steps.emplace_back(std::move(call));
  }

  // A reshard in the model's code, or a value of another name.
  void add_move(const ir::Operation& operation) {
    const ir::ValueId from = operation.inputs[0], to = operation.outputs[0];
    PHI_CHECK(meta(from) == meta(to),
              errors::Unimplemented(
                  "the model uses {} as {} without an operator, which is not planned; use reshape, "
                  "or keep it out of the loss.",
                  meta(from).dims.to_string(), meta(to).dims.to_string()));
    const auto* attr = body_.values[static_cast<size_t>(to)].attr;
    if (attr == nullptr) {
      tensors_[static_cast<size_t>(to)] = tensor(from);
      return;
    }
    const TensorId source = tensor(from);
    const TensorId moved = add_tensor(to, out_.graph.tensors[static_cast<size_t>(source)].name);
    out_.graph.steps.emplace_back(OpGraph::Move{source, moved, out_.graph.slots.size()});
    out_.graph.slots.push_back({"a reshard", {}});
    out_.points.push_back({"", nn::ActivationSlot::kOutput, meta(to).dims, attr});
  }

  void add_point(const ir::Operation& operation, const Mark& mark) {
    const TensorId from = tensor(operation.inputs[0]);
    const TensorId to =
        add_tensor(operation.outputs[0], out_.graph.tensors[static_cast<size_t>(from)].name);
    const auto [known, is_new] =
        slots_.try_emplace({mark.path, mark.activation}, out_.graph.slots.size());
    if (is_new) {
      out_.graph.slots.push_back({mark.path, {}});
      out_.points.push_back({mark.path, mark.activation, meta(operation.outputs[0]).dims, nullptr});
    }
    out_.graph.steps.emplace_back(OpGraph::Move{from, to, known->second});
  }

  // Which inputs are absent, and which are the same tensor.
  static std::vector<ptrdiff_t> pattern_of(const ir::Operation& operation) {
    std::vector<ptrdiff_t> pattern;
    for (const ir::ValueId value : operation.inputs) {
      pattern.push_back(value == ir::kAbsent ? -1
                                             : std::ranges::find(operation.inputs, value) -
                                                   operation.inputs.begin());
    }
    return pattern;
  }

  size_t kind_of(const ir::Operation& operation) {
    std::vector<TensorMeta> metas;
    for (const ir::ValueId value : operation.inputs)
      metas.push_back(value == ir::kAbsent ? TensorMeta() : meta(value));
    const auto same = std::ranges::find_if(out_.kinds, [&](const CallKind& kind) {
      return kind.operation.op == operation.op && kind.metas == metas &&
             kind.operation.attributes == operation.attributes &&
             kind.operation.input_begin == operation.input_begin &&
             kind.operation.inplace == operation.inplace &&
             pattern_of(kind.operation) == pattern_of(operation);
    });
    if (same != out_.kinds.end()) return static_cast<size_t>(same - out_.kinds.begin());
    out_.kinds.push_back({operation, std::move(metas)});
    return out_.kinds.size() - 1;
  }

  const nn::Module& model_;
  const ir::Body& body_;
  const std::unordered_map<ir::ValueId, Mark>& marks_;
  std::vector<TensorId> tensors_;  // by value
  std::map<std::pair<std::string, nn::ActivationSlot>, size_t> slots_;
  ModelGraph out_;
};

}  // namespace

ModelGraph capture_graph(const nn::Module& model, const LossFunction& loss,
                         const TensorList& inputs, const distributed::ProcessMesh& mesh) {
  PHI_CHECK(model.sharding() == nullptr,
            errors::PreconditionNotMet("the model is sharded over {}; plan its layout before "
                                       "nn::shard().",
                                       model.sharding()->mesh.to_string()));
  distributed::DryWorld world(mesh.rank_at(int64_t{0}), mesh.highest_rank() + 1);
  const distributed::World::Scope scope(world);
  const MarkedRecording marked = record_marked(model, loss, inputs);
  return GraphBuilder(model, marked).build(*marked.recording, inputs.size());
}

}  // namespace phi::planning
