// PyTorch's names: first those equal to ours, by module, then the others.
#include "tools/op/torch_names.h"

#include <map>
#include <sstream>

namespace phi::op_tool {
namespace {

using TorchNames = std::map<std::string, std::string, std::less<>>;

struct TorchModule {
  const char* name;
  const char* functions;  // separated by blanks
};

constexpr TorchModule kSameName[] = {
    {"torch",
     "abs acos acosh add addmm all allclose amax amin angle any arange "
     "argmax argmin argsort as_strided asin asinh "
     "atan atan2 atanh bernoulli bilinear bincount binomial "
     "bitwise_and bitwise_left_shift bitwise_not bitwise_or "
     "bitwise_right_shift bitwise_xor bmm ceil channel_shuffle "
     "cholesky_solve clip complex conj copysign cos cosh "
     "cross cummax cummin cumprod cumsum diag diag_embed diagonal "
     "digamma dist divide dot einsum equal erf erfinv "
     "exp expm1 eye flatten flip floor floor_divide fmax fmin full "
     "full_like gather greater_equal heaviside i0 imag "
     "index_add index_put index_select isclose isfinite isinf isnan "
     "kron kthvalue lerp less_equal lgamma linspace "
     "log log10 log1p log2 logcumsumexp logical_and logical_not "
     "logical_or logical_xor logit logspace logsumexp "
     "matmul matrix_power max maximum mean meshgrid min minimum mode "
     "multinomial multiply mv nextafter nonzero "
     "not_equal ones ones_like poisson polygamma pow prod randint "
     "randperm real reciprocal relu remainder renorm "
     "repeat_interleave reshape roll round rsqrt searchsorted "
     "sgn sigmoid sign sin sinh slogdet softmax "
     "split sqrt square squeeze stack stft subtract sum tan tanh tile "
     "topk trace transpose tril tril_indices triu "
     "triu_indices triangular_solve trunc unbind unique "
     "unique_consecutive unsqueeze where zeros zeros_like"},
    {"torch.nn.functional",
     "affine_grid batch_norm celu conv2d conv3d cross_entropy dropout "
     "elu embedding fold gelu grid_sample group_norm "
     "hardshrink hardsigmoid hardswish hardtanh huber_loss "
     "instance_norm layer_norm leaky_relu log_softmax "
     "logsigmoid mish nll_loss one_hot pad pixel_shuffle "
     "pixel_unshuffle prelu relu6 rms_norm rrelu selu silu softplus "
     "softshrink softsign unfold"},
    {"torch.linalg",
     "cholesky det eig eigh eigvals eigvalsh inverse lstsq lu "
     "matrix_rank multi_dot qr solve svd svdvals"}};

struct TorchNamePair {
  const char* ours;
  const char* torch;
};

constexpr TorchNamePair kOthers[] = {
    {"add_n", "torch.add, several times"},
    {"as_complex", "torch.view_as_complex"},
    {"as_real", "torch.view_as_real"},
    {"assign", "torch.clone"},
    {"bce_loss", "torch.nn.functional.binary_cross_entropy"},
    {"bicubic_interp", "torch.nn.functional.interpolate(mode='bicubic')"},
    {"bilinear_interp", "torch.nn.functional.interpolate(mode='bilinear')"},
    {"broadcast_tensors", "torch.broadcast_tensors"},
    {"cast", "torch.Tensor.to"},
    {"concat", "torch.cat"},
    {"conv2d_transpose", "torch.nn.functional.conv_transpose2d"},
    {"conv3d_transpose", "torch.nn.functional.conv_transpose3d"},
    {"cross_entropy_with_softmax", "torch.nn.functional.cross_entropy"},
    {"deformable_conv", "torchvision.ops.deform_conv2d"},
    {"depthwise_conv2d", "torch.nn.functional.conv2d(groups=channels)"},
    {"dirichlet", "torch._sample_dirichlet"},
    {"elementwise_pow", "torch.pow"},
    {"equal", "torch.eq"},
    {"equal_all", "torch.equal"},
    {"expand", "torch.Tensor.expand"},
    {"expand_as", "torch.Tensor.expand_as"},
    {"exponential_", "torch.Tensor.exponential_"},
    {"fft_c2c", "torch.fft.fftn, ifftn"},
    {"fft_c2r", "torch.fft.irfftn"},
    {"fft_r2c", "torch.fft.rfftn"},
    {"fill_diagonal", "torch.Tensor.fill_diagonal_"},
    {"flash_attention", "torch.nn.functional.scaled_dot_product_attention"},
    {"frobenius_norm", "torch.linalg.matrix_norm"},
    {"gammaincc", "torch.special.gammaincc"},
    {"gammaln", "torch.lgamma"},
    {"gather", "torch.index_select"},
    {"gaussian", "torch.normal"},
    {"greater_than", "torch.gt"},
    {"gru", "torch.nn.GRU"},
    {"histogram", "torch.histc"},
    {"i0e", "torch.special.i0e"},
    {"i1", "torch.special.i1"},
    {"i1e", "torch.special.i1e"},
    {"inverse", "torch.linalg.inv"},
    {"kldiv_loss", "torch.nn.functional.kl_div"},
    {"less_than", "torch.lt"},
    {"linear_interp", "torch.nn.functional.interpolate(mode='linear')"},
    {"log_loss", "torch.nn.functional.binary_cross_entropy"},
    {"lstm", "torch.nn.LSTM"},
    {"lu", "torch.linalg.lu_factor"},
    {"lu_unpack", "torch.lu_unpack"},
    {"masked_select", "torch.masked_select"},
    {"max_pool2d_with_index", "torch.nn.functional.max_pool2d(return_indices=True)"},
    {"max_pool3d_with_index", "torch.nn.functional.max_pool3d(return_indices=True)"},
    {"mean_all", "torch.mean"},
    {"nanmedian", "torch.nanmedian"},
    {"nearest_interp", "torch.nn.functional.interpolate(mode='nearest')"},
    {"norm", "torch.nn.functional.normalize"},
    {"numel", "torch.numel"},
    {"p_norm", "torch.linalg.vector_norm"},
    {"pool2d", "torch.nn.functional.max_pool2d, avg_pool2d"},
    {"pool3d", "torch.nn.functional.max_pool3d, avg_pool3d"},
    {"put_along_axis", "torch.scatter, torch.scatter_reduce"},
    {"reverse", "torch.flip"},
    {"rnn", "torch.nn.RNN, LSTM, GRU"},
    {"scatter_nd_add", "torch.index_put(accumulate=True)"},
    {"segment_pool", "torch.segment_reduce"},
    {"sigmoid_cross_entropy_with_logits", "torch.nn.functional.binary_cross_entropy_with_logits"},
    {"slice", "torch.Tensor.__getitem__"},
    {"split_with_num", "torch.chunk"},
    {"standard_gamma", "torch._standard_gamma"},
    {"strided_slice", "torch.Tensor.__getitem__"},
    {"swish", "torch.nn.functional.silu"},
    {"take_along_axis", "torch.gather"},
    {"tanh_shrink", "torch.nn.functional.tanhshrink"},
    {"tensor_unfold", "torch.Tensor.unfold"},
    {"thresholded_relu", "torch.nn.functional.threshold"},
    {"trilinear_interp", "torch.nn.functional.interpolate(mode='trilinear')"},
    {"uniform", "torch.rand"},
    {"unpool", "torch.nn.functional.max_unpool2d"},
    {"unpool3d", "torch.nn.functional.max_unpool3d"},
    {"view_dtype", "torch.Tensor.view(dtype)"},
    {"view_shape", "torch.Tensor.view"},
    {"warpctc", "torch.nn.functional.ctc_loss"},
    {"warprnnt", "torchaudio.functional.rnnt_loss"},
    {"sgd_", "torch.optim.SGD"},
    {"momentum_", "torch.optim.SGD(momentum)"},
    {"adam_", "torch.optim.Adam"},
    {"adamw_", "torch.optim.AdamW"},
    {"adamax_", "torch.optim.Adamax"},
    {"adadelta_", "torch.optim.Adadelta"},
    {"adagrad_", "torch.optim.Adagrad"},
    {"asgd_", "torch.optim.ASGD"},
    {"nadam_", "torch.optim.NAdam"},
    {"radam_", "torch.optim.RAdam"},
    {"rmsprop_", "torch.optim.RMSprop"},
    {"rprop_", "torch.optim.Rprop"},
    {"all_gather", "torch.distributed.all_gather_into_tensor"},
    {"all_reduce", "torch.distributed.all_reduce"},
    {"all_to_all", "torch.distributed.all_to_all_single"},
    {"broadcast", "torch.distributed.broadcast"},
    {"reduce", "torch.distributed.reduce"},
    {"reduce_scatter", "torch.distributed.reduce_scatter_tensor"},
    {"p_send", "torch.distributed.send"},
    {"p_recv", "torch.distributed.recv"}};

TorchNames all_names() {
  TorchNames names;
  for (const TorchModule& module : kSameName) {
    std::istringstream functions(module.functions);
    for (std::string name; functions >> name;) names[name] = std::string(module.name) + "." + name;
  }
  for (const TorchNamePair& pair : kOthers) names[pair.ours] = pair.torch;
  return names;
}

}  // namespace

std::string torch_name_of(std::string_view op) {
  static const TorchNames names = all_names();
  const auto found = names.find(op);
  return found == names.end() ? "" : found->second;
}

}  // namespace phi::op_tool
