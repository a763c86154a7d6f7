// Generated for flatten_grad of backward.yaml. Do not edit; change the YAML and build.
class FlattenGradNode final : public GradNode {
 public:
  explicit FlattenGradNode(const Tensor& x)
      : GradNode("flatten_grad"), x_(SavedTensor::meta_of(x)) {
    add_input(x);
  }
  void release() override { x_.release(); }

 private:
  void backward(const GradOutputs& in, GradInputs& out) override {
    out.set_grad(0, flatten_grad(x_.get(), in.grad(0)));
  }

  SavedTensor x_;
};
