// An explanation as JSON.
#include <nlohmann/json.hpp>

#include "api/explain/explanation.h"
#include "api/explain/explanation_text.h"

namespace phi {
namespace {

using OrderedJson = nlohmann::ordered_json;
using namespace explanation_text;

OrderedJson json_of(const MovedBytes& bytes, bool is_dry) {
  OrderedJson json = {{"sent", bytes.sent}, {"received", bytes.received}};
  if (!is_dry) json["seconds"] = static_cast<double>(bytes.nanoseconds) * 1e-9;
  return json;
}

OrderedJson json_of(const distributed::TensorDistAttr* attr) {
  return attr ? OrderedJson(placements(attr)) : OrderedJson(nullptr);
}

OrderedJson json_of(const ExplainedCall::Argument& x) {
  OrderedJson json = {{"name", x.name}};
  if (!x.value.empty()) json["value"] = x.value;
  if (x.meta.dtype == DataType::UNDEFINED) return json;
  json["meta"] = x.meta.to_string();
  json["placements"] = json_of(x.attr);
  if (x.wanted) json["wanted"] = json_of(x.wanted);
  if (!x.reason.empty()) json["reason"] = x.reason;
  return json;
}

OrderedJson json_of(const ExplainedMove& move, bool is_dry) {
  OrderedJson json = {{"tensor", move.tensor},          {"meta", move.meta.to_string()},
                      {"from", move.from->to_string()}, {"to", move.to->to_string()},
                      {"reason", move.reason},          {"bytes", json_of(move.bytes, is_dry)}};
  if (!move.value.empty()) json["value"] = move.value;
  for (const ExplainedMove::MoveStep& step : move.steps) {
    json["steps"].push_back(
        {{"name", step.name}, {"over", step.mesh_dims}, {"bytes", json_of(step.bytes, is_dry)}});
  }
  return json;
}

OrderedJson json_of(const ExplainedCall& call, bool is_dry) {
  OrderedJson json = {{"op", call.op}};
  if (call.is_move) json["is_move"] = true;
  if (!call.rule.empty()) json["rule"] = call.rule;
  if (!call.module.empty()) json["module"] = call.module;
  if (!call.file.empty()) {
    json["file"] = short_path(call.file);
    json["line"] = call.line;
  }
  if (!call.action.empty()) json["action"] = call.action;
  if (call.micro_batch >= 0) json["micro_batch"] = call.micro_batch;
  if (call.chunk >= 0) json["chunk"] = call.chunk;
  if (call.layout) json["mesh"] = call.layout->mesh().to_string();
  for (const auto& x : call.inputs) json["inputs"].push_back(json_of(x));
  for (const auto& x : call.outputs) json["outputs"].push_back(json_of(x));
  for (const ExplainedMove& move : call.moves) json["moves"].push_back(json_of(move, is_dry));
  if (!call.is_move) json["kernel"] = json_of(call.kernel, is_dry);
  return json;
}

OrderedJson json_of(const std::vector<Explanation::Total>& totals, bool is_dry) {
  OrderedJson json = OrderedJson::object();
  for (const Explanation::Total& total : totals) {
    OrderedJson& entry = json[total.name];
    if (total.calls > 0) entry["calls"] = total.calls;
    entry["moves"] = total.moves;
    entry["bytes"] = json_of(total.bytes, is_dry);
  }
  return json;
}

}  // namespace

std::string Explanation::to_json() const {
  OrderedJson json = {{"rank", rank},
                      {"world_size", world_size},
                      {"calls_here", calls.size()},
                      {"calls_elsewhere", calls_elsewhere},
                      {"moves", num_moves()},
                      {"bytes", json_of(moved(), is_dry)},
                      {"by_op", json_of(by_op(), is_dry)},
                      {"by_mesh_dim", json_of(by_mesh_dim(), is_dry)},
                      {"calls", OrderedJson::array()}};
  for (const ExplainedCall& call : calls) json["calls"].push_back(json_of(call, is_dry));
  return json.dump(1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace phi
