// Turns a graph into a ChoiceProblem: a variable for the placements of each tensor, each slot and
// each gradient, and a table for each step.
#include "distributed/planner/place_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <string>

#include "distributed/placement/gradient_attr.h"
#include "phi/common/errors.h"

namespace phi::distributed::planner {
namespace {

// The values of a variable, in the order in which they were found.
template <typename T>
class Domain {
 public:
  Choice choice_of(const T& value) {
    const auto found = std::ranges::find(values_, value);
    if (found == values_.end()) return values_.push_back(value), Choice(values_.size() - 1);
    return static_cast<Choice>(found - values_.begin());
  }
  const T& operator[](size_t choice) const { return values_[choice]; }
  size_t size() const { return values_.size(); }

 private:
  std::vector<T> values_;
};

// Calls f with each combination of numbers below `sizes`.
void for_each_combination(const std::vector<size_t>& sizes,
                          const std::function<void(const std::vector<size_t>&)>& f) {
  if (std::ranges::find(sizes, size_t{0}) != sizes.end()) return;
  std::vector<size_t> at(sizes.size());
  while (true) {
    f(at);
    size_t i = sizes.size();
    while (i > 0 && ++at[i - 1] == sizes[i - 1]) at[--i] = 0;
    if (i == 0) return;
  }
}

int64_t local_bytes(const OpGraph::Tensor& tensor, const TensorDistAttr* attr) {
  return local_box(tensor.shape, *attr, MeshCoord{}).size.numel() *
         static_cast<int64_t>(size_of(tensor.dtype));
}

class ProblemBuilder {
 public:
  ProblemBuilder(const OpGraph& graph, PlacementCosts& costs, size_t most_combinations)
      : graph_(graph),
        costs_(costs),
        most_combinations_(most_combinations),
        receives_(graph.receive_gradients()),
        states_(graph.tensors.size()),
        contributions_(graph.tensors.size()) {}

  ChoiceProblem build() {
    for (size_t t = 0; t < graph_.tensors.size(); ++t) add_choices(t);
    for (size_t s = 0; s < graph_.slots.size(); ++s) add_slot(s);
    for (step_ = 0; step_ < graph_.steps.size(); ++step_) {
      if (const auto* call = std::get_if<OpGraph::OpCall>(&graph_.steps[step_])) {
        add_call(*call);
      } else {
        add_states_of_move(std::get<OpGraph::Move>(graph_.steps[step_]));
      }
    }
    if (graph_.loss != kAbsent) add_loss();
    while (step_-- > 0) {
      if (const auto* call = std::get_if<OpGraph::OpCall>(&graph_.steps[step_])) {
        for (const TensorId t : call->outputs) add_arrival(t);
      } else {
        add_move(std::get<OpGraph::Move>(graph_.steps[step_]));
      }
    }
    for (size_t t = 0; t < graph_.tensors.size(); ++t) {
      if (!graph_.tensors[t].choices.empty()) add_arrival(static_cast<TensorId>(t));
    }
    ChoiceProblem problem;
    for (const auto& domain : states_) problem.num_choices.push_back(domain.size());
    for (const auto& slot : graph_.slots) problem.num_choices.push_back(slot.choices.size());
    for (const auto& domain : gradients_) problem.num_choices.push_back(domain.size());
    problem.tables = std::move(tables_);
    return problem;
  }

  TensorState state(TensorId t, Choice choice) const { return states_[index(t)][choice]; }
  int slot_variable(size_t slot) const { return static_cast<int>(graph_.tensors.size() + slot); }

 private:
  static size_t index(TensorId t) { return static_cast<size_t>(t); }
  const OpGraph::Tensor& tensor(TensorId t) const { return graph_.tensors[index(t)]; }
  bool receives(TensorId t) const { return t != kAbsent && receives_[index(t)]; }

  void add_choices(size_t t) {
    const OpGraph::Tensor& tensor = graph_.tensors[t];
    if (tensor.choices.empty()) return;
    CostTable held({static_cast<int>(t)});
    for (const AttrPtr attr : tensor.choices) {
      const Choice choice = states_[t].choice_of({attr});
      const int64_t bytes = local_bytes(tensor, attr);
      const double price = static_cast<double>(bytes) * tensor.picoseconds_per_byte;
      held.add({&choice, 1}, {.picoseconds = std::llround(price), .bytes = tensor.copies * bytes});
    }
    tables_.push_back(std::move(held));
  }

  void add_slot(size_t s) {
    CostTable fixed({slot_variable(s)});
    for (size_t i = 0; i < graph_.slots[s].choices.size(); ++i) {
      const Choice choice = static_cast<Choice>(i);
      fixed.add({&choice, 1}, {.fixed = graph_.slots[s].choices[i] ? 1 : 0});
    }
    tables_.push_back(std::move(fixed));
  }

  // A variable for a gradient: the contribution of one step to a tensor's, or their sum.
  int new_gradient() {
    gradients_.emplace_back();
    return static_cast<int>(graph_.tensors.size() + graph_.slots.size() + gradients_.size() - 1);
  }
  Domain<AttrPtr>& gradient(int variable) {
    return gradients_[static_cast<size_t>(variable) - graph_.tensors.size() - graph_.slots.size()];
  }
  // The contribution of the current step.
  int new_contribution(TensorId t) { return contributions_[index(t)][step_] = new_gradient(); }

  std::string describe(const OpGraph::OpCall& call) const {
    std::string names;
    for (const TensorId t : call.inputs) {
      if (t != kAbsent) names += (names.empty() ? "" : ", ") + tensor(t).name;
    }
    return fmt::format("the call with inputs {}", names.empty() ? "(none)" : names);
  }

  void check_size(const std::vector<size_t>& sizes, const OpGraph::OpCall& call) const {
    size_t count = 1;
    for (const size_t size : sizes) {
      count *= size;
      PHI_CHECK(count <= most_combinations_,
                errors::ResourceExhausted("{} has more than {} combinations of placements; fix the "
                                          "placements of some of its inputs.",
                                          describe(call), most_combinations_));
    }
  }

  void add_call(const OpGraph::OpCall& call) {
    std::vector<TensorId> distinct;
    for (const TensorId t : call.inputs) {
      if (t != kAbsent && std::ranges::find(distinct, t) == distinct.end()) distinct.push_back(t);
    }
    std::vector<size_t> sizes;
    std::vector<int> variables, contributions;
    for (const TensorId t : distinct) {
      sizes.push_back(states_[index(t)].size());
      variables.push_back(t);
    }
    check_size(sizes, call);
    for (const TensorId t : call.outputs) {
      if (t != kAbsent) variables.push_back(t);
    }
    const bool has_backward =
        std::ranges::any_of(call.outputs, [&](auto t) { return receives(t); });
    for (const TensorId t : distinct) {
      const bool contributes = has_backward && receives(t);
      contributions.push_back(contributes ? new_contribution(t) : -1);
      if (contributes) variables.push_back(contributions.back());
    }
    CostTable table(variables);
    for_each_combination(sizes, [&](const std::vector<size_t>& at) {
      add_call_row(call, distinct, at, contributions, &table);
    });
    PHI_CHECK(
        table.num_rows() > 0,
        errors::InvalidArgument("{} is possible with none of their placements.", describe(call)));
    tables_.push_back(std::move(table));
  }

  void add_call_row(const OpGraph::OpCall& call, const std::vector<TensorId>& distinct,
                    const std::vector<size_t>& at, const std::vector<int>& contributions,
                    CostTable* table) {
    std::vector<TensorState> inputs(call.inputs.size());
    std::vector<Choice> row;
    for (size_t i = 0; i < distinct.size(); ++i) {
      for (size_t slot = 0; slot < inputs.size(); ++slot) {
        if (call.inputs[slot] == distinct[i]) inputs[slot] = states_[index(distinct[i])][at[i]];
      }
      row.push_back(static_cast<Choice>(at[i]));
    }
    const auto cost = costs_.call(call, inputs, receives_);
    if (!cost) return;
    for (size_t o = 0; o < call.outputs.size(); ++o) {
      if (call.outputs[o] != kAbsent)
        row.push_back(states_[index(call.outputs[o])].choice_of({cost->outputs[o]}));
    }
    for (size_t i = 0; i < distinct.size(); ++i) {
      if (contributions[i] < 0) continue;
      const auto slot = std::ranges::find(call.inputs, distinct[i]) - call.inputs.begin();
      row.push_back(
          gradient(contributions[i]).choice_of(cost->gradients[static_cast<size_t>(slot)]));
    }
    table->add(row, {cost->picoseconds, cost->bytes});
  }

  static TensorState moved(const TensorState& from, AttrPtr to) {
    if (to == nullptr || to == from.attr) return from;
    return {to, is_gather(from.attr, to) ? from.attr : nullptr};
  }

  void add_states_of_move(const OpGraph::Move& move) {
    const Domain<TensorState>& from = states_[index(move.from)];
    for (size_t i = 0; i < from.size(); ++i) {
      for (const AttrPtr to : graph_.slots[move.slot].choices)
        states_[index(move.to)].choice_of(moved(from[i], to));
    }
  }

  // Rows of: from, slot, to, and with a backward pass the gradient of `to` and the contribution to
  // that of `from`.
  void add_move(const OpGraph::Move& move) {
    const std::vector<AttrPtr>& choices = graph_.slots[move.slot].choices;
    std::vector<size_t> sizes = {states_[index(move.from)].size(), choices.size()};
    std::vector<int> variables = {move.from, slot_variable(move.slot), move.to};
    const bool has_backward = receives(move.to) && receives(move.from);
    int arriving = -1, leaving = -1;
    if (has_backward) {
      arriving = gradient_of(move.to);
      leaving = new_contribution(move.from);
      variables.insert(variables.end(), {arriving, leaving});
      sizes.push_back(gradient(arriving).size());
    }
    CostTable table(variables);
    for_each_combination(sizes, [&](const std::vector<size_t>& at) {
      const TensorState from = states_[index(move.from)][at[0]];
      const TensorState to = moved(from, choices[at[1]]);
      std::vector<Choice> row = {Choice(at[0]), Choice(at[1]),
                                 states_[index(move.to)].choice_of(to)};
      Cost cost;
      if (to != from) cost.picoseconds = costs_.reshard(tensor(move.to), from.attr, to.attr);
      if (has_backward) {
        AttrPtr grad = gradient(arriving)[at[2]];
        if (to != from && grad != nullptr) {
          if (to.gathered_from == nullptr) cost.bytes = local_bytes(tensor(move.to), to.attr);
          const AttrPtr whole = without_partial(to.attr), back = without_partial(from.attr);
          cost.picoseconds += costs_.reshard(tensor(move.to), grad, whole) +
                              costs_.reshard(tensor(move.to), whole, back);
          grad = back;
        }
        row.push_back(Choice(at[2]));
        row.push_back(gradient(leaving).choice_of(grad));
      }
      table.add(row, cost);
    });
    tables_.push_back(std::move(table));
  }

  // The variable of a tensor's gradient, whose contributions are all known: their sum, from the
  // last user's to the first's.
  int gradient_of(TensorId t) {
    std::map<size_t, int>& parts = contributions_[index(t)];
    if (parts.empty()) gradient(new_contribution(t)).choice_of(nullptr);
    while (parts.size() > 1) {
      const auto last = std::prev(parts.end());
      const auto next = std::prev(last);
      next->second = sum_of(t, last->second, next->second);
      parts.erase(last);
    }
    return parts.begin()->second;
  }

  int sum_of(TensorId t, int a, int b) {
    const int sum = new_gradient();
    CostTable table({a, b, sum});
    for_each_combination(
        {gradient(a).size(), gradient(b).size()}, [&](const std::vector<size_t>& at) {
          const AttrPtr of_a = gradient(a)[at[0]], of_b = gradient(b)[at[1]];
          PlacementCosts::Sum total{of_a == nullptr ? of_b : of_a};
          if (of_a != nullptr && of_b != nullptr) total = costs_.sum(tensor(t), of_a, of_b);
          const Choice row[] = {Choice(at[0]), Choice(at[1]), gradient(sum).choice_of(total.attr)};
          table.add(row, {total.picoseconds});
        });
    tables_.push_back(std::move(table));
    return sum;
  }

  // Rows of: the tensor, its gradient, which is resharded to the tensor's placements.
  void add_arrival(TensorId t) {
    if (!receives(t) || contributions_[index(t)].empty() || t == graph_.loss) return;
    const int grad = gradient_of(t);
    CostTable table({t, grad});
    for_each_combination(
        {states_[index(t)].size(), gradient(grad).size()}, [&](const std::vector<size_t>& at) {
          const AttrPtr to = without_partial(states_[index(t)][at[0]].attr);
          const AttrPtr from = gradient(grad)[at[1]];
          const Choice row[] = {Choice(at[0]), Choice(at[1])};
          table.add(row, {from == nullptr ? 0 : costs_.reshard(tensor(t), from, to)});
        });
    tables_.push_back(std::move(table));
  }

  // The loss is read, and its gradient has its placements.
  void add_loss() {
    const TensorId t = graph_.loss;
    const int grad = new_contribution(t);
    CostTable table({t, grad});
    for (size_t i = 0; i < states_[index(t)].size(); ++i) {
      const AttrPtr attr = states_[index(t)][i].attr;
      const Choice row[] = {Choice(i), gradient(grad).choice_of(without_partial(attr))};
      const AttrPtr whole = TensorDistAttr::replicated(attr->mesh());
      table.add(row, {costs_.reshard(tensor(t), attr, whole)});
    }
    tables_.push_back(std::move(table));
  }

  const OpGraph& graph_;
  PlacementCosts& costs_;
  size_t most_combinations_;
  size_t step_ = 0;  // the current one
  std::vector<bool> receives_;
  std::vector<Domain<TensorState>> states_;           // by tensor
  std::vector<Domain<AttrPtr>> gradients_;            // by variable
  std::vector<std::map<size_t, int>> contributions_;  // variables by step, by tensor
  std::vector<CostTable> tables_;
};

}  // namespace

PlacedGraph place_tensors(const OpGraph& graph, PlacementCosts& costs,
                          const PlaceTensorsOptions& options) {
  ProblemBuilder builder(graph, costs, options.most_combinations);
  const Elimination solved(builder.build(), options.most_rows);
  PHI_CHECK(solved.is_feasible(),
            errors::InvalidArgument("no placements of the graph's {} tensors fit together; fix "
                                    "fewer of them.",
                                    graph.tensors.size()));
  const std::vector<Choice> choices = solved.choices();
  PlacedGraph placed;
  placed.cost = solved.cost();
  for (size_t t = 0; t < graph.tensors.size(); ++t)
    placed.tensors.push_back(builder.state(static_cast<TensorId>(t), choices[t]));
  for (size_t s = 0; s < graph.slots.size(); ++s) {
    const Choice choice = choices[static_cast<size_t>(builder.slot_variable(s))];
    placed.slots.push_back(graph.slots[s].choices[choice]);
  }
  if (!options.lists_alternatives) return placed;
  const auto costs_of = solved.cost_by_choice();
  placed.cost_by_tensor_choice.resize(graph.tensors.size());
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    if (!graph.tensors[t].choices.empty()) placed.cost_by_tensor_choice[t] = costs_of[t];
  }
  for (size_t s = 0; s < graph.slots.size(); ++s)
    placed.cost_by_slot_choice.push_back(costs_of[static_cast<size_t>(builder.slot_variable(s))]);
  return placed;
}

}  // namespace phi::distributed::planner
