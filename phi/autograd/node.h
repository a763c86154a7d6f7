// Node: one tracked operation in the autograd graph. Nodes and engine are templates on the type of
// gradients, so that they do not depend on tensors. Requirements on a value:
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

/// The producer of a node's input: output `slot` of `node`. `node` is null if the input needs no
/// gradient.
template <typename Value>
struct Edge {
  IntrusivePtr<Node<Value>> node;
  int slot = 0;
};

/// One flag per edge of a node: whether its gradient is needed.
using EdgeMask = std::vector<bool>;

template <typename Value>
class Node : public RefCounted<Node<Value>> {
 public:
  using Hook = std::function<Value(const Value&)>;

  explicit Node(const char* name) : name_(name), sequence_(next_sequence()) {}
  virtual ~Node() = default;

  const char* name() const { return name_; }
  /// Number in the order of tracking: a node that uses a value has a larger number than the node
  /// that made it.
  uint64_t sequence() const { return sequence_; }
  const std::vector<Edge<Value>>& edges() const { return edges_; }
  /// Whether the node is an end of the graph, which accumulates the gradients that arrive.
  virtual bool is_leaf() const { return false; }

  /// Whether run() starts an inner pass, which may reach nodes to which this node has no edges.
  virtual bool reaches_further() const { return false; }

  /// Prepares the complete gradients of the outputs for hooks, captures and run().
  virtual void prepare(std::span<Value>) const {}
  /// Computes gradients of the inputs. grads[slot] is the gradient of an output, undefined if none
  /// arrived. Sets results[i] for each edge i with wanted[i]; an undefined result means zero.
  virtual void run(std::span<Value> grads, const EdgeMask& wanted, std::span<Value> results) = 0;
  /// Releases the values that are saved for run().
  virtual void release() = 0;

  /// Adds a hook for an output. It receives the complete gradient before run() and returns the
  /// gradient to use.
  void add_hook(int slot, Hook hook) { hooks_.push_back({slot, std::move(hook)}); }
  void apply_hooks(std::span<Value> grads) const {
    for (const auto& [slot, hook] : hooks_) {
      if (grads[slot].defined()) grads[slot] = hook(grads[slot]);
    }
  }

  virtual int num_outputs() const = 0;

  // Destroys a chain of nodes in a loop, because recursion would exhaust the stack for a long
  // chain.
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
  // Per thread, like graphs, so that all ranks number their nodes equally.
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
