// Generates the page of rules: runs each rule on its example and describes the results.
#include "tools/spmd/document.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "tools/spmd/case.h"
#include "tools/spmd/infer.h"

namespace phi::spmd_tool {
namespace {

using distributed::Placement;
using distributed::ProcessMesh;
using distributed::TensorDistAttr;

// The result of a rule; inputs flattened.
struct InferredPlacements {
  std::vector<const TensorDistAttr*> inputs;
  std::vector<const TensorDistAttr*> outputs;
};

// A rule and the tensors of its example, whose placements can be set.
class RuleExample {
 public:
  RuleExample(const OpRule& rule, bool operates, const Example& example, const std::string& mesh)
      : rule_(rule), operates_(operates) {
    InferRequest request{std::string(rule.name()), mesh, {}, {}, example.attrs, false};
    for (const std::string& argument : example.inputs) request.inputs.push_back(unplaced(argument));
    call_spec_ = operates ? rule.with_dtypes(parse_call(request, rule)) : parse_call(request, rule);
    for (size_t i = 0; i < call_spec_.inputs.size(); ++i) {
      for (OpTensor& tensor : call_spec_.inputs[i]) {
        if (tensor.attr == nullptr) continue;
        tensors_.push_back(&tensor);
        names_.push_back(call_spec_.inputs[i].size() == 1
                             ? rule.tensors()[i].name
                             : fmt::format("{}[{}]", rule.tensors()[i].name,
                                           &tensor - call_spec_.inputs[i].data()));
      }
    }
  }

  size_t size() const { return tensors_.size(); }
  const Dims& shape(size_t i) const { return tensors_[i]->meta.dims; }
  const std::string& name(size_t i) const { return names_[i]; }
  void place(size_t i, const TensorDistAttr* attr) { tensors_[i]->attr = attr; }
  const TensorDistAttr* placed(size_t i) const { return tensors_[i]->attr; }
  const ProcessMesh& mesh() const { return call_spec_.mesh; }
  void reset() {
    for (OpTensor* tensor : tensors_) tensor->attr = TensorDistAttr::replicated(call_spec_.mesh);
  }

  // Runs the rule. Omits absent inputs. Nothing if the rule refuses.
  std::optional<InferredPlacements> infer() const {
    try {
      return operates_ ? of_operator() : of_function();
    } catch (const Error&) {
      return std::nullopt;
    }
  }

 private:
  // "8x4" becomes "8x4[_,_]"; applied to each tensor of a list.
  static std::string unplaced(const std::string& argument) {
    if (argument.empty()) return "[]";
    std::string text;
    size_t start = 0;
    while (start <= argument.size()) {
      const size_t end = std::min(argument.find(' ', start), argument.size());
      const std::string shape = argument.substr(start, end - start);
      const auto ndim = shape == "0d" ? 0 : std::count(shape.begin(), shape.end(), 'x') + 1;
      text += (text.empty() ? "" : " ") + (shape == "0d" ? "" : shape) + "[";
      for (long d = 0; d < ndim; ++d) text += d == 0 ? "_" : ",_";
      text += "]";
      start = end + 1;
    }
    return text;
  }

  InferredPlacements of_operator() const {
    const OpInference inference = rule_.infer_by_rule(call_spec_);
    InferredPlacements result;
    for (const auto* attr : inference.inputs) {
      if (attr != nullptr) result.inputs.push_back(attr);
    }
    for (const auto& output : inference.outputs) result.outputs.push_back(output.attr);
    return result;
  }

  InferredPlacements of_function() const {
    const auto inference = rule_.infer_spmd(rule_.args(call_spec_)).forward();
    InferredPlacements result;
    for (const auto* attr : inference.inputs) {
      if (attr != nullptr) result.inputs.push_back(attr);
    }
    result.outputs.assign(inference.outputs.begin(), inference.outputs.end());
    return result;
  }

  const OpRule& rule_;
  bool operates_;
  OpCallSpec call_spec_;
  std::vector<OpTensor*> tensors_;
  std::vector<std::string> names_;
};

// The tensor dim that `attr` splits over mesh dim 0; -1: none.
int split_dim(const TensorDistAttr* attr) {
  return attr != nullptr && attr->placement(0).is_shard() ? attr->placement(0).tensor_dim() : -1;
}

struct Findings {
  std::vector<std::string> inputs;   // factor of each dim; '1': must not be split
  std::vector<std::string> outputs;  // only outputs with results
  std::vector<std::string> sums;     // "k makes out partial (sum)"
  std::vector<std::string> partial;  // "x"
};

class Prober {
 public:
  explicit Prober(RuleExample subject) : example_(std::move(subject)) {}

  Findings run() {
    example_.reset();
    const auto whole = example_.infer();
    if (!whole) return {};
    for (size_t i = 0; i < example_.size(); ++i) {
      found_.inputs.emplace_back(static_cast<size_t>(example_.shape(i).ndim()), '1');
    }
    found_.outputs.resize(whole->outputs.size());
    present_.assign(whole->outputs.begin(), whole->outputs.end());
    for (size_t i = 0; i < example_.size(); ++i) {
      for (int d = 0; d < example_.shape(i).ndim(); ++d) probe_split(i, d);
    }
    for (size_t i = 0; i < example_.size(); ++i) probe_partial(i);
    probe_every_partial();
    return found_;
  }

  bool output_is_there(size_t o) const { return present_[o] != nullptr; }

 private:
  void put(std::string* names, int d, char letter) {
    if (static_cast<int>(names->size()) <= d) names->resize(static_cast<size_t>(d) + 1, '1');
    (*names)[static_cast<size_t>(d)] = letter;
  }

  void probe_split(size_t i, int d) {
    if (found_.inputs[i][static_cast<size_t>(d)] != '1') return;
    example_.reset();
    const Placement shard[] = {distributed::Shard(d)};
    example_.place(i, TensorDistAttr::get(example_.mesh(), shard));
    const auto inference = example_.infer();
    if (!inference || inference->inputs.size() <= i || split_dim(inference->inputs[i]) != d) return;
    const char letter = next_++;
    for (size_t k = 0; k < inference->inputs.size(); ++k) {
      if (const int own = split_dim(inference->inputs[k]); own >= 0) {
        put(&found_.inputs[k], own, letter);
      }
    }
    std::vector<std::string> partial;
    for (size_t o = 0; o < inference->outputs.size(); ++o) {
      const TensorDistAttr* attr = inference->outputs[o];
      if (const int own = split_dim(attr); own >= 0) put(&found_.outputs[o], own, letter);
      if (attr != nullptr && attr->placement(0).is_partial()) {
        partial.push_back(
            fmt::format("output {} ({})", o, distributed::name_of(attr->placement(0).reduce())));
      }
    }
    if (!partial.empty()) {
      found_.sums.push_back(
          fmt::format("`{}` split: {} partial", letter, fmt::join(partial, ", ")));
    }
  }

  bool passes() const {
    const auto inference = example_.infer();
    return inference &&
           std::any_of(inference->outputs.begin(), inference->outputs.end(),
                       [](const auto* a) { return a != nullptr && a->placement(0).is_partial(); });
  }

  void probe_partial(size_t i) {
    example_.reset();
    const Placement partial[] = {distributed::Partial()};
    example_.place(i, TensorDistAttr::get(example_.mesh(), partial));
    if (passes()) found_.partial.push_back(example_.name(i));
  }

  void probe_every_partial() {
    if (!found_.partial.empty() || example_.size() < 2) return;
    const Placement partial[] = {distributed::Partial()};
    for (size_t i = 0; i < example_.size(); ++i) {
      example_.place(i, TensorDistAttr::get(example_.mesh(), partial));
    }
    if (passes()) found_.partial.push_back("all inputs together");
  }

  RuleExample example_;
  Findings found_;
  std::vector<const TensorDistAttr*> present_;
  char next_ = 'a';
};

std::string spaced(const std::string& names) {
  return names.empty() ? "()" : fmt::format("{}", fmt::join(names, " "));
}

std::string notation(const Findings& found, const Prober& prober) {
  std::vector<std::string> inputs, outputs;
  for (const auto& names : found.inputs) inputs.push_back(spaced(names));
  for (size_t o = 0; o < found.outputs.size(); ++o) {
    outputs.push_back(prober.output_is_there(o) ? spaced(found.outputs[o]) : "absent");
  }
  return fmt::format("{} -> {}", fmt::join(inputs, ", "), fmt::join(outputs, ", "));
}

std::string placed_text(const std::string& name, const TensorDistAttr* attr, int ndim) {
  return name + to_text(attr, ndim);
}

// The example on a 2 x 2 mesh with its first two factors split, each where it occurs first.
std::string picture(RuleExample& subject, const Findings& found) {
  subject.reset();
  int mesh_dim = 0;
  for (char letter = 'a'; letter <= 'z' && mesh_dim < 2; ++letter) {
    for (size_t i = 0; i < found.inputs.size(); ++i) {
      const size_t d = found.inputs[i].find(letter);
      if (d == std::string::npos) continue;
      std::vector<Placement> placements(subject.placed(i)->placements().begin(),
                                        subject.placed(i)->placements().end());
      placements[static_cast<size_t>(mesh_dim++)] = distributed::Shard(static_cast<int>(d));
      subject.place(i, TensorDistAttr::get(subject.mesh(), placements));
      break;
    }
  }
  const auto inference = subject.infer();
  if (!inference) return "";
  std::vector<std::string> given, needs, gives;
  for (size_t i = 0; i < subject.size(); ++i) {
    const int ndim = subject.shape(i).ndim();
    given.push_back(placed_text(subject.name(i), subject.placed(i), ndim));
    if (i < inference->inputs.size()) needs.push_back(to_text(inference->inputs[i], ndim));
  }
  for (size_t o = 0; o < inference->outputs.size(); ++o) {
    const int ndim = static_cast<int>(found.outputs[o].size());
    gives.push_back(to_text(inference->outputs[o], ndim));
  }
  return fmt::format("{}\n  needs {}\n  gives {}\n", fmt::join(given, "  "), fmt::join(needs, "  "),
                     fmt::join(gives, "  "));
}

// For each rule, its operators.
std::map<std::string, std::vector<std::string>> operators(std::string_view (OpRule::*part)()
                                                              const) {
  std::map<std::string, std::vector<std::string>> result;
  for (const OpRule& rule : rules::all()) {
    result[std::string((rule.*part)())].push_back("`" + std::string(rule.name()) + "`");
  }
  return result;
}

std::string partial_section() {
  std::string text =
      "\n"
      "## Partial values\n"
      "\n"
      "How partial inputs propagate that the rule above would reduce, and the operators that do "
      "so.\n"
      "`api/rules/partial_propagation.h` documents the meaning and the conditions.\n"
      "\n"
      "| outputs as a function of inputs | operators |\n"
      "|---|---|\n";
  for (const auto& [propagation, names] : operators(&OpRule::partial)) {
    if (!propagation.empty())
      text += fmt::format("| `{}` | {} |\n", propagation, fmt::join(names, ", "));
  }
  return text;
}

// Whether an operator accepts the example; operators with one rule have different arguments.
bool takes(const OpRule& rule, const Example& example) {
  try {
    return RuleExample(rule, /*operates=*/true, example, "2").infer().has_value();
  } catch (const Error&) {
    return false;
  }
}

// The rule that represents the example's function: the first operator that accepts the example,
// else the waiting rule.
const OpRule* answering(const Example& example, bool* operates) {
  for (const OpRule& rule : rules::all()) {
    *operates = rule.rule() == example.rule && takes(rule, example);
    if (*operates) return &rule;
  }
  for (const OpRule& rule : unused_rules()) {
    if (rule.rule() == example.rule) return &rule;
  }
  return nullptr;
}

std::string section(const Example& example, const std::vector<std::string>& users) {
  std::string text = fmt::format("## {}\n\n", example.rule);
  text += users.empty() ? "No operator yet.\n"
                        : fmt::format("Operators: {}.\n", fmt::join(users, ", "));
  bool operates = false;
  const OpRule* rule = answering(example, &operates);
  if (rule == nullptr) return text + "\n";
  Prober prober(RuleExample(*rule, operates, example, "2"));
  const Findings found = prober.run();
  text += fmt::format("\n```\n{}\n", notation(found, prober));
  RuleExample subject(*rule, operates, example, "2x2");
  text += picture(subject, found) + "```\n\n";
  if (*example.about != '\0') text += fmt::format("- {}\n", example.about);
  for (const auto& sum : found.sums) text += fmt::format("- {}\n", sum);
  text += found.partial.empty()
              ? "- Partial inputs are reduced.\n"
              : fmt::format("- Partial passes on: {}.\n", fmt::join(found.partial, ", "));
  return text + "\n";
}

constexpr const char* kHead =
    "# Placement rules\n"
    "\n"
    "Written by `autophi spmd --document`.\n"
    "\n"
    "Each rule is applied to one example, in which one dim after the other is split and one "
    "tensor\n"
    "after the other is partial. In the notation dims with one letter are split together, `1` is "
    "a\n"
    "dim that must not be split (its split is dropped, or not kept by that example), `()` a "
    "scalar.\n"
    "Below it are the example on a mesh of 2 x 2 with its first two letters split, what the rule "
    "then\n"
    "needs, and what it infers for its outputs: for each tensor dim the mesh dim that splits it, "
    "`_`\n"
    "for none, `p0` for partial over mesh dim 0. docs/architecture.md "
    "describes how\n"
    "rules are built.\n"
    "Operators pass on more partial values than their rules: see [below](#partial-values).\n"
    "\n";

}  // namespace

std::string document() {
  std::string text = kHead;
  auto users = operators(&OpRule::rule);
  for (const Example& example : examples()) {
    const auto it = users.find(example.rule);
    text += section(example, it == users.end() ? std::vector<std::string>() : it->second);
    if (it != users.end()) users.erase(it);
  }
  text +=
      "## Others\n"
      "\n"
      "Rules declared in place, whose text is their notation, and operators without one, which\n"
      "work on replicated tensors.\n"
      "\n"
      "| rule | operators |\n"
      "|---|---|\n";
  for (const auto& [rule, names] : users) {
    text += fmt::format("| {} | {} |\n", rule.empty() ? "replicated tensors" : "`" + rule + "`",
                        fmt::join(names, ", "));
  }
  return text + partial_section();
}

}  // namespace phi::spmd_tool
