// The backward engine: runs each node of a graph once, when all gradients of its outputs have
// arrived.
//
// Among the ready nodes, leaves run first, then the node that was tracked last. The order depends
// on the graph alone. All ranks of a job build the same graph, so they issue the same collectives.
//
//   run_backward<Value>({{edge_of(loss), one}}, {});
//
// Gradients of leaves can be deferred (BackwardOptions::defers): zero-bubble schedules compute
// gradients of inputs first and those of weights later.
#pragma once

#include <algorithm>
#include <queue>
#include <unordered_map>

#include "phi/autograd/node.h"

namespace phi::autograd {

template <typename Value>
struct BackwardRoot {
  Edge<Value> edge;
  Value grad;
};

/// The deferred gradients of leaves: the nodes that compute them, and the gradients of these nodes'
/// outputs.
template <Differentiable Value>
class DeferredWork {
 public:
  void add(IntrusivePtr<Node<Value>> node, std::vector<Value> grads, EdgeMask wanted) {
    items_.push_back({std::move(node), std::move(grads), std::move(wanted)});
  }
  /// Defers only the accumulation: `grad` is the gradient of the leaf.
  void add_found(const Edge<Value>& leaf, Value grad) {
    std::vector<Value> grads(static_cast<size_t>(leaf.node->num_outputs()));
    grads[static_cast<size_t>(leaf.slot)] = std::move(grad);
    add(leaf.node, std::move(grads), {});
  }
  bool empty() const { return items_.empty(); }
  /// Runs all deferred work, in the order in which it was added, and removes it.
  void run();

 private:
  struct Item {
    IntrusivePtr<Node<Value>> node;
    std::vector<Value> grads;
    EdgeMask wanted;
  };
  std::vector<Item> items_;
};

template <Differentiable Value>
struct BackwardOptions {
  using LeafTest = std::function<bool(const Node<Value>&)>;

  /// Whether nodes keep their saved values, for another pass over the same graph.
  bool retain_graph = false;
  /// If `deferred` is set, gradients of leaves for which `defers` returns true are added to it and
  /// not computed.
  LeafTest defers{};
  DeferredWork<Value>* deferred = nullptr;
  /// If not empty: computes only the gradients of these edges, returns them in this order, and
  /// accumulates nothing in leaves.
  std::vector<Edge<Value>> captures{};
};

namespace detail {

template <Differentiable Value>
class BackwardPass {
 public:
  explicit BackwardPass(const BackwardOptions<Value>& options) : options_(options) {}

  std::vector<Value> run(std::vector<BackwardRoot<Value>> roots) {
    const Current inner(this);
    for (BackwardRoot<Value>& root : roots) discover(root.edge.node);
    mark_needed();
    for (BackwardRoot<Value>& root : roots) deliver(root.edge, std::move(root.grad));
    for (auto& [node, state] : states_) {
      if (state.pending == 0) ready_.push(node);
    }
    while (!ready_.empty()) {
      Node<Value>* node = ready_.top();
      ready_.pop();
      visit(node);
    }
    return std::move(captured_);
  }

  /// The innermost pass of the calling thread, or null. A node's run() may start an inner pass.
  static BackwardPass*& current() {
    thread_local BackwardPass* pass = nullptr;
    return pass;
  }
  const BackwardOptions<Value>& options() const { return options_; }
  /// Adds gradients that an inner pass computed for the captures of this pass, in their order.
  void add_captured(std::span<Value> found) {
    for (size_t i = 0; i < found.size(); ++i) add(captured_[i], std::move(found[i]));
  }

 private:
  struct State {
    IntrusivePtr<Node<Value>> owner;
    int pending = 0;  // edges into the node whose gradients have not arrived
    bool needed = true;
    std::vector<Value> grads;
  };
  struct Current {
    explicit Current(BackwardPass* pass) : outer(std::exchange(current(), pass)) {}
    ~Current() { current() = outer; }
    BackwardPass* outer;
  };
  struct RunsLater {
    bool operator()(const Node<Value>* a, const Node<Value>* b) const {
      if (a->is_leaf() != b->is_leaf()) return b->is_leaf();
      return a->sequence() < b->sequence();
    }
  };

  void discover(const IntrusivePtr<Node<Value>>& root) {
    if (!root || states_.contains(root.get())) return;
    std::vector<Node<Value>*> open;
    const auto meet = [&](const IntrusivePtr<Node<Value>>& node) -> State& {
      auto [it, is_new] = states_.try_emplace(node.get());
      if (is_new) {
        it->second.owner = node;
        it->second.grads.resize(static_cast<size_t>(node->num_outputs()));
        open.push_back(node.get());
      }
      return it->second;
    };
    meet(root);
    while (!open.empty()) {
      Node<Value>* node = open.back();
      open.pop_back();
      for (const Edge<Value>& edge : node->edges()) {
        if (edge.node) ++meet(edge.node).pending;
      }
    }
  }

  // With captures, a node is needed if a captured edge can be reached from it.
  void mark_needed() {
    if (options_.captures.empty()) return;
    captured_.resize(options_.captures.size());
    std::vector<Node<Value>*> order;
    for (auto& [node, state] : states_) order.push_back(node);
    std::sort(order.begin(), order.end(),
              [](auto* a, auto* b) { return a->sequence() < b->sequence(); });
    for (Node<Value>* node : order) {
      bool needed = node->reaches_further() ||
                    std::any_of(options_.captures.begin(), options_.captures.end(),
                                [&](const Edge<Value>& edge) { return edge.node.get() == node; });
      for (const Edge<Value>& edge : node->edges()) {
        needed = needed || (edge.node && states_.at(edge.node.get()).needed);
      }
      states_.at(node).needed = needed;
    }
  }

  void deliver(const Edge<Value>& edge, Value grad) {
    if (!edge.node) return;
    add(states_.at(edge.node.get()).grads[static_cast<size_t>(edge.slot)], std::move(grad));
  }

  static void add(Value& sum, Value grad) {
    if (!grad.defined()) return;
    if (sum.defined()) {
      accumulate(sum, std::move(grad));
    } else {
      sum = std::move(grad);
    }
  }

  void visit(Node<Value>* node) {
    State& state = states_.at(node);
    std::vector<Value> grads = std::move(state.grads);
    node->prepare(grads);
    node->apply_hooks(grads);
    capture(node, grads);
    const bool reached =
        std::any_of(grads.begin(), grads.end(), [](const Value& grad) { return grad.defined(); });
    std::vector<Value> results(node->edges().size());
    if (reached && state.needed && (options_.captures.empty() || !node->is_leaf())) {
      compute(state.owner, std::move(grads), results);
    }
    for (size_t i = 0; i < results.size(); ++i) {
      const Edge<Value>& edge = node->edges()[i];
      if (!edge.node) continue;
      deliver(edge, std::move(results[i]));
      if (--states_.at(edge.node.get()).pending == 0) ready_.push(edge.node.get());
    }
    state.owner = nullptr;
  }

  void capture(Node<Value>* node, const std::vector<Value>& grads) {
    for (size_t i = 0; i < captured_.size(); ++i) {
      const Edge<Value>& edge = options_.captures[i];
      if (edge.node.get() == node) add(captured_[i], grads[static_cast<size_t>(edge.slot)]);
    }
  }

  void compute(const IntrusivePtr<Node<Value>>& node, std::vector<Value> grads,
               std::vector<Value>& results) {
    EdgeMask now(results.size());
    EdgeMask later(results.size());
    bool any_now = node->is_leaf();
    bool any_later = false;
    for (size_t i = 0; i < results.size(); ++i) {
      const Node<Value>* target = node->edges()[i].node.get();
      if (target == nullptr || !states_.at(node->edges()[i].node.get()).needed) continue;
      const bool put_off = options_.deferred && target->is_leaf() && options_.defers(*target);
      (put_off ? later : now)[i] = true;
      (put_off ? any_later : any_now) = true;
    }
    if (node->reaches_further()) {
      compute_whole(node, std::move(grads), now, later, results);
      return;
    }
    if (any_later) {
      std::vector<Value> kept = grads;
      if (any_now) node->run(grads, now, results);
      options_.deferred->add(node, std::move(kept), std::move(later));
      return;
    }
    if (any_now) node->run(grads, now, results);
    if (!options_.retain_graph) node->release();
  }

  // Runs a node with an inner pass once, for immediate and deferred edges together, and defers only
  // the accumulation. Two runs would add the inner pass's gradients twice.
  void compute_whole(const IntrusivePtr<Node<Value>>& node, std::vector<Value> grads,
                     const EdgeMask& now, const EdgeMask& later, std::vector<Value>& results) {
    EdgeMask wanted = now;
    for (size_t i = 0; i < later.size(); ++i) wanted[i] = now[i] || later[i];
    node->run(grads, wanted, results);
    for (size_t i = 0; i < later.size(); ++i) {
      if (later[i] && results[i].defined()) {
        options_.deferred->add_found(node->edges()[i], std::exchange(results[i], Value()));
      }
    }
    if (!options_.retain_graph) node->release();
  }

  const BackwardOptions<Value>& options_;
  std::unordered_map<Node<Value>*, State> states_;
  std::priority_queue<Node<Value>*, std::vector<Node<Value>*>, RunsLater> ready_;
  std::vector<Value> captured_;
};

}  // namespace detail

/// Runs the backward pass from `roots`. Returns the gradients of options.captures, in their order;
/// a gradient is undefined if none arrived.
template <Differentiable Value>
std::vector<Value> run_backward(std::vector<BackwardRoot<Value>> roots,
                                const BackwardOptions<Value>& options) {
  return detail::BackwardPass<Value>(options).run(std::move(roots));
}

/// Runs an inner pass over another graph, whose leaves are `inputs`. A node's run() calls it. The
/// inner pass defers what the outer pass defers, and computes gradients of the outer pass's
/// captures too. If the outer pass has captures, returns the gradients of `inputs`; otherwise the
/// gradients are accumulated in the leaves and the result is empty.
template <Differentiable Value>
std::vector<Value> run_inner_backward(std::vector<BackwardRoot<Value>> roots,
                                      const std::vector<Edge<Value>>& inputs) {
  BackwardOptions<Value> options;
  // The inner graph may lead into the outer pass's graph, whose saved values are still needed.
  options.retain_graph = true;
  auto* outer = detail::BackwardPass<Value>::current();
  if (outer && !outer->options().captures.empty()) {
    const auto& captures = outer->options().captures;
    options.captures = inputs;
    options.captures.insert(options.captures.end(), captures.begin(), captures.end());
    std::vector<Value> grads = run_backward(std::move(roots), options);
    outer->add_captured(std::span(grads).subspan(inputs.size()));
    grads.resize(inputs.size());
    return grads;
  }
  if (outer) {
    options.deferred = outer->options().deferred;
    options.defers = [&, defers = outer->options().defers](const Node<Value>& leaf) {
      const bool now = std::any_of(inputs.begin(), inputs.end(), [&](const Edge<Value>& input) {
        return input.node.get() == &leaf;
      });
      return !now && defers && defers(leaf);
    };
  }
  run_backward(std::move(roots), options);
  return {};
}

template <Differentiable Value>
void DeferredWork<Value>::run() {
  for (Item& item : std::exchange(items_, {})) {
    std::vector<Value> results(item.node->edges().size());
    if (item.node->is_leaf()) item.node->apply_hooks(item.grads);
    item.node->run(item.grads, item.wanted, results);
    for (size_t i = 0; i < results.size(); ++i) {
      const Edge<Value>& edge = item.node->edges()[i];
      if (!item.wanted[i] || !results[i].defined()) continue;
      std::vector<Value> grads(static_cast<size_t>(edge.node->num_outputs()));
      grads[static_cast<size_t>(edge.slot)] = std::move(results[i]);
      edge.node->apply_hooks(grads);
      edge.node->run(grads, {}, {});
    }
    item.node->release();
    item = {};
  }
}

}  // namespace phi::autograd
