// Node: one tracked operation of a differentiable program. Generic over the values that flow, so
// that the graph and its engine know nothing of tensors:
//
//   struct Value { bool defined() const; };
//   void accumulate(Value& sum, Value&& more);   // found by argument-dependent lookup
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "phi/common/intrusive_ptr.h"

namespace phi::autograd {

template <typename Value>
concept Differentiable = requires(Value& sum, Value more) {
  { std::as_const(sum).defined() } -> std::convertible_to<bool>;
  accumulate(sum, std::move(more));
};

template <typename Value>
class Node;

/// Where an input of a node came from: output `slot` of `node`; null if no gradient is needed.
template <typename Value>
struct Edge {
  IntrusivePtr<Node<Value>> node;
  int slot = 0;
};

/// Which of a node's edges a gradient is wanted for; a flag per edge.
using Wanted = std::vector<bool>;

template <typename Value>
class Node : public RefCounted<Node<Value>> {
 public:
  using Hook = std::function<Value(const Value&)>;

  explicit Node(const char* name) : name_(name), sequence_(next_sequence()) {}
  virtual ~Node() = default;

  const char* name() const { return name_; }
  /// Grows in the order of tracking, so that the nodes that use a value come after its own.
  uint64_t sequence() const { return sequence_; }
  const std::vector<Edge<Value>>& edges() const { return edges_; }
  /// The end of the graph: it keeps the gradients that arrive.
  virtual bool is_leaf() const { return false; }

  /// Its run() starts an inner pass, which may lead to nodes that it has no edges to.
  virtual bool reaches_further() const { return false; }

  /// Gets the complete gradients of the outputs ready for hooks, captures and run().
  virtual void prepare(std::span<Value>) const {}
  /// grads[slot]: the gradient of each output, undefined where none came. Fills results[i] for the
  /// wanted edges; one left undefined means zero.
  virtual void run(std::span<Value> grads, const Wanted& wanted, std::span<Value> results) = 0;
  /// Gives up what was kept for run().
  virtual void release() = 0;

  /// Hooks see the complete gradient of an output before run() and may replace it.
  void add_hook(int slot, Hook hook) { hooks_.push_back({slot, std::move(hook)}); }
  void apply_hooks(std::span<Value> grads) const {
    for (const auto& [slot, hook] : hooks_) {
      if (grads[slot].defined()) grads[slot] = hook(grads[slot]);
    }
  }

  virtual int num_outputs() const = 0;

  // A long chain of nodes is taken down in a loop: by recursion it would exhaust the stack.
  [[gnu::noinline]] static void destroy(Node* node) {
    thread_local std::vector<Node*> condemned;
    thread_local bool draining = false;
    condemned.push_back(node);
    if (draining) return;
    draining = true;
    while (!condemned.empty()) {
      Node* next = condemned.back();
      condemned.pop_back();
      delete next;
    }
    draining = false;
  }

 protected:
  void add_edge(Edge<Value> edge) { edges_.push_back(std::move(edge)); }

 private:
  // Per thread, as graphs are: every rank numbers its nodes alike.
  static uint64_t next_sequence() {
    thread_local uint64_t count = 0;
    return ++count;
  }

  const char* name_;
  uint64_t sequence_;
  std::vector<Edge<Value>> edges_;
  std::vector<std::pair<int, Hook>> hooks_;
};

}  // namespace phi::autograd
