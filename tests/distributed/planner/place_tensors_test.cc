// place_tensors against all choices of placements, each played forward and backward, on random
// graphs whose calls cost anything.
#include "distributed/planner/place_tensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "distributed/placement/gradient_attr.h"
#include "support/error_matchers.h"

namespace phi::distributed::planner {
namespace {

using Attr = const TensorDistAttr*;
using Attrs = std::vector<Attr>;

const ProcessMesh& mesh() {
  static const ProcessMesh mesh({4}, {"tp"});
  return mesh;
}
Attr attr(const Placement& placement) { return TensorDistAttr::get(mesh(), {placement}); }
const Attrs& all_attrs() {
  static const Attrs attrs = {attr(Replicate()), attr(Shard(0)), attr(Shard(1)), attr(Partial())};
  return attrs;
}

uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}
uint64_t number(Attr attr) {
  return attr == nullptr
             ? 9
             : static_cast<uint64_t>(std::ranges::find(all_attrs(), attr) - all_attrs().begin());
}

// Every answer is a number drawn from its question.
class DrawnCosts final : public PlacementCosts {
 public:
  explicit DrawnCosts(uint64_t seed) : seed_(seed) {}

  std::optional<CallCost> call(const OpGraph::OpCall& call, std::span<const TensorState> inputs,
                               const std::vector<bool>& receives) override {
    uint64_t hash = mixed(seed_, call.kind);
    for (const TensorState& input : inputs)
      hash = mixed(mixed(hash, number(input.attr)), number(input.gathered_from));
    if (hash % 10 == 0) return std::nullopt;
    CallCost cost;
    for (size_t o = 0; o < call.outputs.size(); ++o) cost.outputs.push_back(drawn(hash, 10 + o));
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool is_first =
          std::ranges::find(call.inputs, call.inputs[i]) == call.inputs.begin() + std::ptrdiff_t(i);
      const bool none = !is_first || !receives[static_cast<size_t>(call.inputs[i])] ||
                        mixed(hash, 30 + i) % 8 == 0;
      cost.gradients.push_back(none ? nullptr : drawn(hash, 20 + i));
    }
    cost.picoseconds = static_cast<int64_t>(mixed(hash, 1) % 40);
    cost.bytes = static_cast<int64_t>(mixed(hash, 2) % 4);
    return cost;
  }
  int64_t reshard(const OpGraph::Tensor& tensor, Attr from, Attr to) override {
    if (from == to) return 0;
    const uint64_t pair = 8 * number(from) + number(to);
    return static_cast<int64_t>(mixed(seed_, mixed(pair, static_cast<uint64_t>(tensor.shape[0]))) %
                                30);
  }
  Sum sum(const OpGraph::Tensor&, Attr a, Attr b) override {
    const uint64_t hash = mixed(mixed(seed_, number(a)), number(b));
    return {drawn(hash, 3), static_cast<int64_t>(mixed(hash, 4) % 10)};
  }

 private:
  static Attr drawn(uint64_t hash, uint64_t salt) {
    return all_attrs()[mixed(hash, salt) % all_attrs().size()];
  }
  uint64_t seed_;
};

OpGraph random_graph(uint32_t seed) {
  std::mt19937 rng(seed);
  const auto below = [&](size_t n) { return static_cast<size_t>(rng() % n); };
  OpGraph graph;
  const auto add_tensor = [&](bool has_choices) {
    OpGraph::Tensor tensor{"t" + std::to_string(graph.tensors.size()),
                           {int64_t(4 + 4 * below(3)), 8},
                           DataType::FLOAT32};
    if (has_choices) {
      tensor.choices.assign(all_attrs().begin(),
                            all_attrs().begin() + std::ptrdiff_t(1 + below(3)));
      tensor.is_trained = below(4) > 0;
      tensor.copies = static_cast<int64_t>(below(3));
    }
    graph.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(graph.tensors.size() - 1);
  };
  for (size_t i = 0; i < 1 + below(3); ++i) add_tensor(true);
  for (size_t s = 0; s < below(3); ++s) {
    Attrs choices = {nullptr, attr(Replicate()), attr(Shard(0)), attr(Shard(1))};
    choices.resize(1 + below(4));
    graph.slots.push_back({"s" + std::to_string(s), choices});
  }
  const auto any = [&] { return static_cast<TensorId>(below(graph.tensors.size())); };
  for (size_t step = 0; step < 2 + below(5); ++step) {
    if (!graph.slots.empty() && below(3) == 0) {
      const TensorId from = any();
      const size_t slot = below(graph.slots.size());
      const TensorId to = add_tensor(false);
      graph.tensors.back().shape = graph.tensors[static_cast<size_t>(from)].shape;
      graph.steps.emplace_back(OpGraph::Move{from, to, slot});
      continue;
    }
    OpGraph::OpCall call{.kind = below(3)};
    for (size_t i = 0; i < 1 + below(2); ++i) call.inputs.push_back(any());
    if (below(6) == 0) call.inputs.push_back(call.inputs[0]);
    for (size_t o = 0; o < 1 + below(2); ++o) call.outputs.push_back(add_tensor(false));
    graph.steps.emplace_back(std::move(call));
  }
  graph.loss = static_cast<TensorId>(graph.tensors.size() - 1);
  return graph;
}

int64_t bytes_of(const OpGraph::Tensor& tensor, Attr attr) {
  return tensor.shape[0] * tensor.shape[1] * 4 / (attr->placement(0).is_shard() ? 4 : 1);
}

// Plays a graph with one choice for each tensor that has some, and for each slot.
class Player {
 public:
  Player(const OpGraph& graph, DrawnCosts& costs, Attrs chosen, Attrs slots)
      : graph_(graph),
        costs_(costs),
        slots_(std::move(slots)),
        receives_(graph.receive_gradients()),
        states_(graph.tensors.size()),
        gradients_(graph.tensors.size()) {
    for (size_t t = 0; t < chosen.size(); ++t) states_[t] = {chosen[t]};
  }

  std::optional<Cost> play() {
    for (size_t t = 0; t < graph_.tensors.size(); ++t) {
      const auto& tensor = graph_.tensors[t];
      if (!tensor.choices.empty()) cost_.bytes += tensor.copies * bytes_of(tensor, states_[t].attr);
    }
    for (const Attr slot : slots_) cost_.fixed += slot ? 1 : 0;
    for (const auto& step : graph_.steps) {
      if (!forward(step)) return std::nullopt;
    }
    const auto loss = static_cast<size_t>(graph_.loss);
    cost_.picoseconds += costs_.reshard(graph_.tensors[loss], states_[loss].attr, all_attrs()[0]);
    gradients_[loss] = {without_partial(states_[loss].attr)};
    for (size_t s = graph_.steps.size(); s-- > 0;) backward(s);
    for (size_t t = 0; t < graph_.tensors.size(); ++t) {
      if (!graph_.tensors[t].choices.empty() && graph_.loss != int(t)) arrive(t);
    }
    return cost_;
  }

 private:
  bool forward(const std::variant<OpGraph::OpCall, OpGraph::Move>& step) {
    if (const auto* move = std::get_if<OpGraph::Move>(&step)) {
      const TensorState from = states_[size_t(move->from)];
      TensorState& to = states_[size_t(move->to)] = from;
      if (changes(*move)) {
        to = {slots_[move->slot]};
        if (is_gather(from.attr, to.attr)) to.gathered_from = from.attr;
        cost_.picoseconds += costs_.reshard(graph_.tensors[size_t(move->to)], from.attr, to.attr);
      }
      return true;
    }
    const auto& call = std::get<OpGraph::OpCall>(step);
    std::vector<TensorState> inputs;
    for (const TensorId t : call.inputs) inputs.push_back(states_[size_t(t)]);
    const auto cost = costs_.call(call, inputs, receives_);
    if (!cost) return false;
    for (size_t o = 0; o < call.outputs.size(); ++o)
      states_[size_t(call.outputs[o])] = {cost->outputs[o]};
    cost_ += {cost->picoseconds, cost->bytes};
    answers_[&call] = *cost;
    return true;
  }
  bool changes(const OpGraph::Move& move) const {
    return slots_[move.slot] && slots_[move.slot] != states_[size_t(move.from)].attr;
  }

  // The sum of the contributions, which are in the order of the backward pass; null: none.
  Attr whole_gradient(size_t t) {
    Attr total = nullptr;
    for (const Attr part : gradients_[t]) {
      if (total && part) {
        const auto sum = costs_.sum(graph_.tensors[t], total, part);
        cost_.picoseconds += sum.picoseconds;
        total = sum.attr;
      } else if (part) {
        total = part;
      }
    }
    return total;
  }
  void arrive(size_t t) {
    if (!receives_[t]) return;
    const Attr gradient = whole_gradient(t);
    if (gradient)
      cost_.picoseconds +=
          costs_.reshard(graph_.tensors[t], gradient, without_partial(states_[t].attr));
  }
  void backward(size_t s) {
    if (const auto* call = std::get_if<OpGraph::OpCall>(&graph_.steps[s])) {
      bool any = false;
      for (const TensorId t : call->outputs) {
        any |= receives_[size_t(t)];
        if (t != graph_.loss) arrive(size_t(t));
      }
      for (size_t i = 0; any && i < call->inputs.size(); ++i) {
        if (receives_[size_t(call->inputs[i])])
          gradients_[size_t(call->inputs[i])].push_back(answers_.at(call).gradients[i]);
      }
      return;
    }
    const auto& move = std::get<OpGraph::Move>(graph_.steps[s]);
    if (!receives_[size_t(move.to)] || !receives_[size_t(move.from)]) return;
    const auto& tensor = graph_.tensors[size_t(move.to)];
    Attr gradient = whole_gradient(size_t(move.to));
    if (gradient && changes(move)) {
      const TensorState from = states_[size_t(move.from)], to = states_[size_t(move.to)];
      const Attr whole = without_partial(to.attr), back = without_partial(from.attr);
      cost_.picoseconds +=
          costs_.reshard(tensor, gradient, whole) + costs_.reshard(tensor, whole, back);
      if (!to.gathered_from) cost_.bytes += bytes_of(tensor, to.attr);
      gradient = back;
    }
    gradients_[size_t(move.from)].push_back(gradient);
  }

  const OpGraph& graph_;
  DrawnCosts& costs_;
  Attrs slots_;
  std::vector<bool> receives_;
  std::vector<TensorState> states_;
  std::vector<Attrs> gradients_;
  std::map<const OpGraph::OpCall*, PlacementCosts::CallCost> answers_;
  Cost cost_;
};

struct Enumerated {
  std::optional<Cost> least;
  std::vector<std::map<Attr, Cost>> by_tensor, by_slot;
};

Enumerated enumerate(const OpGraph& graph, DrawnCosts& costs) {
  std::vector<Attrs> choices;
  for (const auto& tensor : graph.tensors)
    choices.push_back(tensor.choices.empty() ? Attrs{nullptr} : tensor.choices);
  for (const auto& slot : graph.slots) choices.push_back(slot.choices);
  Enumerated all;
  all.by_tensor.resize(graph.tensors.size());
  all.by_slot.resize(graph.slots.size());
  std::vector<size_t> at(choices.size());
  while (true) {
    Attrs chosen, slots;
    for (size_t i = 0; i < choices.size(); ++i)
      (i < graph.tensors.size() ? chosen : slots).push_back(choices[i][at[i]]);
    if (const auto cost = Player(graph, costs, chosen, slots).play()) {
      if (!all.least || *cost < *all.least) all.least = cost;
      const auto note = [&](std::map<Attr, Cost>& least, Attr attr) {
        const auto [known, is_new] = least.try_emplace(attr, *cost);
        if (!is_new) known->second = std::min(known->second, *cost);
      };
      for (size_t t = 0; t < chosen.size(); ++t) note(all.by_tensor[t], chosen[t]);
      for (size_t s = 0; s < slots.size(); ++s) note(all.by_slot[s], slots[s]);
    }
    size_t i = at.size();
    while (i > 0 && ++at[i - 1] == choices[i - 1].size()) at[--i] = 0;
    if (i == 0) return all;
  }
}

void expect_costs(const std::vector<std::optional<Cost>>& found, const Attrs& choices,
                  const std::map<Attr, Cost>& expected) {
  for (size_t i = 0; i < choices.size(); ++i) {
    const auto cost = expected.find(choices[i]);
    ASSERT_EQ(found[i].has_value(), cost != expected.end());
    if (found[i]) {
      EXPECT_EQ(*found[i], cost->second);
    }
  }
}

TEST(PlaceTensors, EqualsAllChoicesOnRandomGraphs) {
  int feasible = 0, with_gradients = 0;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    const OpGraph graph = random_graph(seed);
    DrawnCosts costs(seed);
    const Enumerated all = enumerate(graph, costs);
    if (!all.least) {
      EXPECT_THROW(place_tensors(graph, costs), Error);
      continue;
    }
    ++feasible;
    with_gradients += graph.receive_gradients()[size_t(graph.loss)] ? 1 : 0;
    const PlacedGraph placed = place_tensors(graph, costs);
    EXPECT_EQ(placed.cost, *all.least);
    Attrs chosen;
    for (size_t t = 0; t < graph.tensors.size(); ++t) {
      const Attrs& choices = graph.tensors[t].choices;
      chosen.push_back(choices.empty() ? nullptr : placed.tensors[t].attr);
      if (!choices.empty())
        expect_costs(placed.cost_by_tensor_choice[t], choices, all.by_tensor[t]);
    }
    for (size_t s = 0; s < graph.slots.size(); ++s)
      expect_costs(placed.cost_by_slot_choice[s], graph.slots[s].choices, all.by_slot[s]);
    EXPECT_EQ(Player(graph, costs, chosen, placed.slots).play(), all.least);
  }
  EXPECT_GT(feasible, 300);
  EXPECT_LT(feasible, 600);
  EXPECT_GT(with_gradients, 200);
}

TEST(PlaceTensors, ACallThatIsPossibleWithNoPlacementsIsNamed) {
  class NoRule final : public PlacementCosts {
    std::optional<CallCost> call(const OpGraph::OpCall&, std::span<const TensorState>,
                                 const std::vector<bool>&) override {
      return std::nullopt;
    }
    int64_t reshard(const OpGraph::Tensor&, Attr, Attr) override { return 0; }
    Sum sum(const OpGraph::Tensor&, Attr, Attr) override { return {}; }
  } costs;
  OpGraph graph;
  graph.tensors = {{"weight", {4, 4}, DataType::FLOAT32, {attr(Shard(0))}},
                   {"y", {4, 4}, DataType::FLOAT32}};
  graph.steps = {OpGraph::OpCall{0, {0}, {1}}};
  graph.loss = 1;
  EXPECT_THAT([&] { place_tensors(graph, costs); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "the call with inputs weight is possible with none of their placements"));
}

}  // namespace
}  // namespace phi::distributed::planner
