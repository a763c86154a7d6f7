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
    auto x_grad = flatten_grad(x_.get(), in.grad(0));
    out.set_grad(0, std::move(x_grad));
  }

  SavedTensor x_;
};
