// Generated for concat_grad of backward.yaml. Do not edit; change the YAML and build.
class ConcatGradNode final : public GradNode {
 public:
  ConcatGradNode(const std::vector<Tensor>& x, const Scalar& axis)
      : GradNode("concat_grad"), x_(SavedList::meta_of(x)), axis_(axis) {
    add_input(x);
  }
  void release() override { x_.release(); }

 private:
  void backward(const GradOutputs& in, GradInputs& out) override {
    auto x_grad = concat_grad(x_.get(), in.grad(0), axis_);
    out.set_grad(0, std::move(x_grad));
  }

  SavedList x_;
  Scalar axis_;
};
