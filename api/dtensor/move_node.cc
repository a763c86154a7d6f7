// The gradient of a move between placements or meshes.
#include "api/dtensor/move_node.h"

#include "distributed/placement/gradient_attr.h"
#include "phi/core/rank_context.h"
#include "phi/core/recorder.h"

namespace phi::distributed {

namespace {

// The node of a move. Its backward reshards the gradient to the form of the move's input.
class MoveNode final : public GradNode {
 public:
  /// `gathers`: the result can be recomputed from x by a gather.
  MoveNode(const char* name, const Tensor& x, bool gathers)
      : GradNode(name), form_(TensorForm::of(x)), source_(gathers ? x.detach() : Tensor()) {
    add_input(x);
  }
  Tensor gathered_from() const override { return source_; }
  void release() override { source_ = Tensor(); }

 private:
  void backward(const GradOutputs& in, GradInputs& out) override {
    out.set_grad(0, form_.reshard(in.grad(0)));
  }
  TensorForm form_;
  Tensor source_;
};

}  // namespace

const TensorDistAttr* attr_of_move(const Tensor& x, const ProcessMesh& mesh,
                                   std::span<const Placement> placements) {
  const TensorDistAttr* attr = TensorDistAttr::get(mesh, placements);
  attr->check_fits(x.shape());
  if (Recorder* recorder = RankContext::current().recorder()) recorder->used(x);
  return attr;
}

bool is_gather(const Tensor& from, const TensorDistAttr* to) {
  return from.is_dist() && is_gather(from.dist_attr(), to);
}

void track_move(const char* name, const Tensor& from, Tensor& to, bool gathers) {
  track(new MoveNode(name, from, gathers), to);
}

Tensor tracked_move(const char* name, const Tensor& from, Tensor to) {
  if (any_requires_grad(from)) track_move(name, from, to, is_gather(from, to.dist_attr()));
  return to;
}

}  // namespace phi::distributed
