// Generated for reshape_grad of backward.yaml. Do not edit; change the YAML and build.
class ReshapeGradNode final : public GradNode {
 public:
  explicit ReshapeGradNode(const Tensor& x)
      : GradNode("reshape_grad"), x_(SavedTensor::meta_of(x)) {
    add_input(x);
  }
  void release() override { x_.release(); }

 private:
  void backward(const GradOutputs& in, GradInputs& out) override {
    out.set_grad(0, reshape_grad(x_.get(), in.grad(0)));
  }

  SavedTensor x_;
};
