// Generated for distribute_grad of backward.yaml. Do not edit; change the YAML and build.
class DistributeGradNode final : public GradNode {
 public:
  DistributeGradNode(const std::vector<Tensor>& levels, const Tensor& order, const Tensor& rois)
      : GradNode("distribute_grad"), levels_(levels), order_(order) {
    add_input(rois);
    add_input(levels);
  }
  void release() override {
    levels_.release();
    order_.release();
  }

 private:
  void backward(const GradOutputs& in, GradInputs& out) override {
    auto [rois_grad, levels_grad] =
        distribute_grad(levels_.get(), order_.get(), in.list(0), in.grad(2), out.mask());
    out.set_grad(0, std::move(rois_grad));
    out.set_grad(1, std::move(levels_grad));
  }

  SavedList levels_;
  SavedTensor order_;
};
