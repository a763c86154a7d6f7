// Generated for scale_all_grad of backward.yaml. Do not edit; change the YAML and build.
class ScaleAllGradNode final : public GradNode {
 public:
  ScaleAllGradNode(float factor, const std::vector<Tensor>& xs)
      : GradNode("scale_all_grad"), factor_(factor) {
    add_input(xs);
  }
  void release() override {}

 private:
  void backward(const GradOutputs& in, GradInputs& out) override {
    auto xs_grad = scale_all_grad(in.list(0), factor_);
    out.set_grad(0, std::move(xs_grad));
  }

  float factor_;
};
