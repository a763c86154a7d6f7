// Runs the loop, or records one body and a second one for its gradients.
#include "api/capture/scan.h"

#include <algorithm>
#include <set>

#include "api/autograd/grad_node.h"
#include "api/capture/recording.h"
#include "api/capture/result_graph.h"
#include "api/capture/stand_in.h"
#include "api/generated/ops/assign.h"
#include "phi/autograd/grad_mode.h"
#include "phi/common/errors.h"

namespace phi {
namespace {

using GradEdge = autograd::Edge<Tensor>;

Tensor stand_in(const Tensor& x) { return ir::stand_in_at_same_place(x, "scan"); }

const distributed::TensorDistAttr* attr_of(const Tensor& x) {
  return x.is_dist() ? x.dist_attr() : nullptr;
}
bool alike(const Tensor& a, const Tensor& b) {
  return a.meta() == b.meta() && attr_of(a) == attr_of(b);
}

void check_layers(const std::vector<TensorList>& layers) {
  for (size_t i = 0; i < layers.size(); ++i) {
    PHI_CHECK(layers[i].size() == layers[0].size(),
              errors::InvalidArgument("scan: layer {} has {} tensors, layer 0 has {}.", i,
                                      layers[i].size(), layers[0].size()));
    for (size_t k = 0; k < layers[i].size(); ++k) {
      PHI_CHECK(alike(layers[i][k], layers[0][k]),
                errors::InvalidArgument("scan: tensor {} of layer {} is {}, that of layer 0 {}; "
                                        "layers that differ need a loop.",
                                        k, i, layers[i][k].to_string(), layers[0][k].to_string()));
    }
  }
}

// The body's steps use one offset for a tensor of all layers, so the offsets must be equal.
void check_places(const std::vector<TensorList>& layers) {
  for (size_t i = 0; i < layers.size(); ++i) {
    for (size_t k = 0; k < layers[i].size(); ++k) {
      const size_t offset = array_of(layers[i][k]).byte_offset();
      const size_t of_first = array_of(layers[0][k]).byte_offset();
      PHI_CHECK(offset == of_first,
                errors::Unimplemented("scan: tensor {} of layer {} begins {} bytes into its "
                                      "storage, that of layer 0 {}, which a captured scan does "
                                      "not; assign() one of them.",
                                      k, i, offset, of_first));
    }
  }
}

// A carried value must be at offset 0 of its storage in each trip.
Tensor at_start(const Tensor& x) { return array_of(x).byte_offset() == 0 ? x : assign(x); }

Tensor checked(const Tensor& y, const Tensor& x) {
  PHI_CHECK(y.defined() && alike(y, x),
            errors::InvalidArgument("scan: the function gives {} for an x of {}; the next layer "
                                    "needs one like x. Reshard or cast it.",
                                    y.to_string(), x.to_string()));
  return y;
}

// Returns tensor k of each layer.
TensorList column(const std::vector<TensorList>& layers, size_t k) {
  TensorList list;
  for (const TensorList& layer : layers) list.push_back(layer[k]);
  return list;
}

// A recorded body: its leaves, its result, and the graph between them.
struct ScanBody {
  int number = -1;
  Tensor x;
  TensorList layer;
  Tensor y;
};

class ScanNode final : public GradNode {
 public:
  ScanNode(const Tensor& x, const std::vector<TensorList>& layers, ScanBody body)
      : GradNode("scan"), trips_(static_cast<int64_t>(layers.size())), body_(std::move(body)) {
    add_input(x);
    for (const TensorList& layer : layers) {
      for (const Tensor& w : layer) add_input(w);
    }
  }
  void release() override { body_ = {}; }

 private:
  void backward(const GradOutputs& in, GradInputs& out) override {
    auto* recording = ir::Recording::current();
    PHI_CHECK(recording && body_.y.defined(),
              errors::PreconditionNotMet("the gradient of a captured scan is asked for outside of "
                                         "its program, or a second time."));
    ir::ScanInterface ends;
    ends.trips = trips_;
    ends.reversed = true;
    ends.first = at_start(in.grad(0));
    ends.body = recording->begin_body(body_.number);
    ends.carried_in = stand_in(ends.first);
    recording->add_input(ends.carried_in);
    const TensorList grads = gradients(ends.carried_in);
    ends.carried_out = grads[0];
    recording->end_body(grads);
    ends.last = stand_in(grads[0]);
    for (size_t k = 1; k < grads.size(); ++k) add_output(ends, grads[k]);
    recording->add_scan(ends);
    give(ends, grads, out);
  }

  // Returns the gradients of x and of the layer's tensors; undefined for one that receives none.
  TensorList gradients(const Tensor& grad) {
    GradEdge root{IntrusivePtr<autograd::Node<Tensor>>(body_.y.grad_link().node()),
                  body_.y.grad_link().slot()};
    // The body's saved tensors are released with this node, because the outer pass may retain the
    // graph.
    autograd::BackwardOptions<Tensor> options;
    options.retain_graph = true;
    autograd::run_backward<Tensor>({{root, grad}}, options);
    const Tensor of_x = taken_from(body_.x);
    const TensorForm form = TensorForm::of(body_.x);
    // A step of the body must make the zeros: a constant would be one array for all trips.
    TensorList grads = {of_x.defined() ? form.reshard(of_x) : assign(form.zeros())};
    for (Tensor& w : body_.layer) grads.push_back(taken_from(w));
    give_own_arrays(grads, grad);
    return grads;
  }

  // Copies gradients that share an array, as the gradients of a sum's terms do.
  static void give_own_arrays(TensorList& grads, const Tensor& given) {
    std::set<const Storage*> taken = {array_of(given).storage().get()};
    for (Tensor& grad : grads) {
      if (grad.defined() && !taken.insert(array_of(grad).storage().get()).second) {
        grad = assign(grad);
      }
    }
  }

  static Tensor taken_from(Tensor& leaf) {
    Tensor grad = leaf.grad_so_far();
    leaf.clear_grad();
    return grad;
  }

  void add_output(ir::ScanInterface& ends, const Tensor& grad) const {
    if (!grad.defined()) return;
    ir::ScanInterface::PerTrip& output = ends.outputs.emplace_back();
    output.inner = grad;
    for (int64_t i = 0; i < trips_; ++i) output.outer.push_back(stand_in(grad));
  }

  void give(const ir::ScanInterface& ends, const TensorList& grads, GradInputs& out) const {
    const size_t width = grads.size() - 1;
    out.set_grad(0, ends.last);
    size_t output = 0;
    for (size_t k = 0; k < width; ++k) {
      if (!grads[k + 1].defined()) continue;
      const TensorList& by_trip = ends.outputs[output++].outer;
      for (size_t i = 0; i < by_trip.size(); ++i) {
        out.set_grad(static_cast<int>(1 + i * width + k), by_trip[i]);
      }
    }
  }

  int64_t trips_;
  ScanBody body_;
};

Tensor leaf_like(const Tensor& x, bool needs_grad, ir::Recording& recording) {
  Tensor leaf = stand_in(x);
  if (needs_grad) leaf.set_requires_grad();
  recording.add_input(leaf);
  return leaf;
}

void refuse_tracked(const std::string& what) {
  throw errors::Unimplemented(
      "scan: the function uses a tensor that requires a gradient and is none of its arguments "
      "({}), which a captured scan does not; give it in every layer.",
      what);
}

// Whether the gradient leads out of the open body, to x or to a layer's tensor. Throws if it leads
// to a tensor that f captures: that gradient would be computed once and not in every trip.
bool leads_out(const ScanBody& body, const Tensor& x, uint64_t begin,
               const ir::Recording& recording) {
  const ir::ResultGraph graph = ir::result_graph(body.y, begin);
  if (graph.outside) refuse_tracked(graph.outside->name());
  if (graph.reaches_further) {
    const Tensor held = recording.tracked_of_outside();
    if (held.defined()) refuse_tracked(held.to_string());
    return true;
  }
  const auto is_met = [&](const Tensor& leaf) {
    return graph.nodes.contains(leaf.grad_link().node());
  };
  return (x.requires_grad() && is_met(body.x)) ||
         std::any_of(body.layer.begin(), body.layer.end(), is_met);
}

Tensor recorded_scan(const ScanFunction& f, const Tensor& given,
                     const std::vector<TensorList>& layers, ir::Recording& recording) {
  check_places(layers);
  const Tensor x = at_start(given);
  bool tracked = any_requires_grad(x);
  for (const TensorList& layer : layers) tracked = tracked || any_requires_grad(layer);
  ScanBody body;
  const uint64_t begin = ir::newest_node();
  body.number = recording.begin_body(-1);
  body.x = leaf_like(x, tracked, recording);
  for (size_t k = 0; k < layers[0].size(); ++k) {
    body.layer.push_back(leaf_like(layers[0][k], any_requires_grad(column(layers, k)), recording));
  }
  const uint64_t draws = RankContext::current().generator().state().draws;
  body.y = at_start(checked(f(body.x, body.layer), x));
  PHI_CHECK(RankContext::current().generator().state().draws == draws,
            errors::Unimplemented("scan: the function leaves a seed out, and the one body of a "
                                  "captured scan would draw the same in every layer; give the "
                                  "seed, append the layers one by one, or do not capture."));
  const bool has_gradient = leads_out(body, x, begin, recording);
  recording.end_body({body.y});
  ir::ScanInterface ends;
  ends.body = body.number;
  ends.trips = static_cast<int64_t>(layers.size());
  ends.first = x;
  ends.carried_in = body.x;
  ends.carried_out = body.y;
  Tensor y = stand_in(body.y);
  ends.last = y;
  for (size_t k = 0; k < layers[0].size(); ++k) {
    ends.inputs.push_back({body.layer[k], column(layers, k)});
  }
  recording.add_scan(ends);
  if (tracked && has_gradient) track(new ScanNode(x, layers, std::move(body)), y);
  return y;
}

}  // namespace

Tensor scan(const ScanFunction& f, const Tensor& x, const std::vector<TensorList>& layers) {
  check_layers(layers);
  auto* recording = ir::Recording::current();
  if (recording && recording->captures_scans() && layers.size() > 1) {
    return recorded_scan(f, x, layers, *recording);
  }
  Tensor y = x;
  for (const TensorList& layer : layers) y = checked(f(y, layer), x);
  return y;
}

}  // namespace phi
