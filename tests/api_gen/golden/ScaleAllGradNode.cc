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
    out.set_grad(0, scale_all_grad(in.list(0), factor_));
  }

  float factor_;
};
