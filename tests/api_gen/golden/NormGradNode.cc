// Generated for norm_grad of backward.yaml. Do not edit; change the YAML and build.
class NormGradNode final : public GradNode {
 public:
  NormGradNode(const Tensor& x, const std::optional<Tensor>& scale, const Tensor& mean,
               float epsilon)
      : GradNode("norm_grad"), x_(x), scale_(scale), mean_(mean), epsilon_(epsilon) {
    add_input(x);
    add_input(scale);
  }
  void release() override {
    x_.release();
    scale_.release();
    mean_.release();
  }

 private:
  void backward(const GradOutputs& in, GradInputs& out) override {
    auto [x_grad, scale_grad] =
        norm_grad(x_.get(), scale_.optional(), mean_.get(), in.grad(0), epsilon_, true, out.mask());
    out.set_grad(0, std::move(x_grad));
    out.set_grad(1, std::move(scale_grad));
  }

  SavedTensor x_;
  SavedTensor scale_;
  SavedTensor mean_;
  float epsilon_;
};
