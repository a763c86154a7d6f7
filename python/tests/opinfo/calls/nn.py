"""Layers: convolutions, pools, normalisation, losses, attention."""

import math

import autophi as ap
from opinfo.calls.arguments import only, tuple_of
from opinfo.registry import ROUNDED, call


@call("nn.functional.linear")
def linear(x, weight, bias=None):
    out = ap.matmul(x, weight, False, True)
    return out if bias is None else out + bias


@call("nn.functional.bilinear")
def bilinear(x, y, weight, bias=None):
    only(x.ndim == 2, "inputs of other than two dims")
    return ap.bilinear(x, y, weight, None if bias is None else ap.reshape(bias, [1, bias.size]))


@call("nn.functional.embedding")
def embedding(weight, indices, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    only(max_norm is None, "rows that are made shorter")
    if padding_idx is not None and padding_idx < 0:
        padding_idx += weight.shape[0]
    only(padding_idx is None, "a row without gradient, which is zero in ours")
    if scale_grad_by_freq:
        return ap.embedding_with_scaled_gradient(indices, weight)
    return ap.embedding(indices, weight)


def _convolution(operator, dims):
    def run(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        only(x.ndim == dims + 2, "images without a batch")
        explicit = not isinstance(padding, str)
        out = operator(x, weight, strides=tuple_of(stride, dims),
                       paddings=tuple_of(padding, dims) if explicit else [0] * dims,
                       padding_algorithm="EXPLICIT" if explicit else padding.upper(),
                       dilations=tuple_of(dilation, dims), groups=groups)
        return _with_bias(out, bias, dims)

    return run


def _transposed_convolution(operator, dims):
    def run(x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        only(x.ndim == dims + 2, "images without a batch")
        out = operator(x, weight, strides=tuple_of(stride, dims), paddings=tuple_of(padding, dims),
                       output_padding=tuple_of(output_padding, dims), groups=groups,
                       dilations=tuple_of(dilation, dims))
        return _with_bias(out, bias, dims)

    return run


def _with_bias(out, bias, dims):
    return out if bias is None else out + ap.reshape(bias, [bias.size] + [1] * dims)


call("nn.functional.conv2d", tolerance=ROUNDED)(_convolution(ap.conv2d, 2))
call("nn.functional.conv3d", tolerance=ROUNDED)(_convolution(ap.conv3d, 3))
call("nn.functional.conv_transpose2d", tolerance=ROUNDED)(_transposed_convolution(ap.conv2d_transpose, 2))
call("nn.functional.conv_transpose3d", tolerance=ROUNDED)(_transposed_convolution(ap.conv3d_transpose, 3))


def _average_pool(operator, dims):
    def run(x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        only(x.ndim == dims + 2, "images without a batch")
        only(divisor_override is None, "a divisor")
        kernel = tuple_of(kernel_size, dims)
        return operator(x, kernel, tuple_of(stride, dims) if stride else kernel, tuple_of(padding, dims), ceil_mode,
                        not count_include_pad, "NCHW" if dims == 2 else "NCDHW", "avg", False, False, "EXPLICIT")

    return run


def _adaptive_average_pool(operator, dims):
    def run(x, output_size):
        only(x.ndim == dims + 2, "images without a batch")
        size = [s if o is None else o for o, s in zip(_sizes(output_size, dims), x.shape[2:])]
        return operator(x, size, [1] * dims, [0] * dims, False, True, "NCHW" if dims == 2 else "NCDHW", "avg", False,
                        True, "EXPLICIT")

    return run


def _sizes(output_size, dims):
    return [output_size] * dims if output_size is None or isinstance(output_size, int) else list(output_size)


call("nn.functional.avg_pool2d")(_average_pool(ap.pool2d, 2))
call("nn.functional.avg_pool3d")(_average_pool(ap.pool3d, 3))
call("nn.functional.adaptive_avg_pool2d")(_adaptive_average_pool(ap.pool2d, 2))
call("nn.functional.adaptive_avg_pool3d")(_adaptive_average_pool(ap.pool3d, 3))


def _max_pool(operator, dims):
    def run(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        only(x.ndim == dims + 2, "images without a batch")
        only(set(tuple_of(dilation, dims)) == {1}, "dilation")
        kernel = tuple_of(kernel_size, dims)
        out, mask = operator(x, kernel, tuple_of(stride, dims) if stride else kernel, tuple_of(padding, dims),
                             ceil_mode=ceil_mode)
        return [out, ap.cast(mask, "int64")] if return_indices else out

    return run


def _adaptive_max_pool(operator, dims):
    def run(x, output_size, return_indices=False):
        only(x.ndim == dims + 2, "images without a batch")
        size = [s if o is None else o for o, s in zip(_sizes(output_size, dims), x.shape[2:])]
        out, mask = operator(x, size, adaptive=True)
        return [out, ap.cast(mask, "int64")] if return_indices else out

    return run


call("nn.functional.max_pool2d")(_max_pool(ap.max_pool2d_with_index, 2))
call("nn.functional.max_pool3d")(_max_pool(ap.max_pool3d_with_index, 3))
call("nn.functional.adaptive_max_pool2d")(_adaptive_max_pool(ap.max_pool2d_with_index, 2))
call("nn.functional.adaptive_max_pool3d")(_adaptive_max_pool(ap.max_pool3d_with_index, 3))


@call("nn.functional.max_unpool2d", "nn.functional.max_unpool2d/grad")
def max_unpool2d(x, indices, kernel_size, stride=None, padding=0, output_size=None):
    only(x.ndim == 4, "images without a batch")
    return _unpool(lambda *args: ap.unpool(*args, "NCHW"), x, indices, kernel_size, stride, padding, output_size, 2)


@call("nn.functional.max_unpool3d", "nn.functional.max_unpool3d/grad")
def max_unpool3d(x, indices, kernel_size, stride=None, padding=0, output_size=None):
    only(x.ndim == 5, "images without a batch")
    return _unpool(ap.unpool3d, x, indices, kernel_size, stride, padding, output_size, 3)


def _unpool(operator, x, indices, kernel_size, stride, padding, output_size, dims):
    kernel = tuple_of(kernel_size, dims)
    step, pad = tuple_of(stride, dims) if stride else kernel, tuple_of(padding, dims)
    size = list(output_size)[-dims:] if output_size else [
        (n - 1) * s - 2 * p + k for n, s, p, k in zip(x.shape[2:], step, pad, kernel)]
    return operator(x, ap.cast(indices, "int32"), kernel, step, pad, size)


@call("nn.functional.pixel_shuffle")
def pixel_shuffle(x, upscale_factor):
    only(x.ndim == 4, "other than one batch dim")
    return ap.pixel_shuffle(x, upscale_factor)


@call("nn.functional.pixel_unshuffle")
def pixel_unshuffle(x, downscale_factor):
    only(x.ndim == 4, "other than one batch dim")
    return ap.pixel_unshuffle(x, downscale_factor)


@call("nn.functional.channel_shuffle")
def channel_shuffle(x, groups):
    only(x.ndim == 4, "other than one batch dim")
    return ap.channel_shuffle(x, groups)


@call("nn.functional.unfold")
def unfold(x, kernel_size, dilation=1, padding=0, stride=1):
    only(x.ndim == 4, "images without a batch")
    return ap.unfold(x, tuple_of(kernel_size, 2), tuple_of(stride, 2), tuple_of(padding, 2) * 2, tuple_of(dilation, 2))


@call("nn.functional.grid_sample", "grid_sampler_2d", "grid_sampler_3d", tolerance={"float32": (2e-4, 1e-4)})
def grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    mode = mode if isinstance(mode, str) else ("bilinear", "nearest", "bicubic")[mode]
    padding_mode = padding_mode if isinstance(padding_mode, str) else ("zeros", "border", "reflection")[padding_mode]
    only(mode != "bicubic", "bicubic interpolation")
    return ap.grid_sample(x, grid, mode, padding_mode, bool(align_corners))


def _interpolate(x, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
                 antialias=False):
    dims = x.ndim - 2
    only(not antialias and not recompute_scale_factor, "other forms")
    operators = {("nearest", 1): None, ("nearest", 2): (ap.nearest_interp, "NCHW"),
                 ("nearest", 3): (ap.nearest_interp, "NCHW"), ("linear", 1): (ap.linear_interp, "NCHW"),
                 ("bilinear", 2): (ap.bilinear_interp, "NCHW"), ("bicubic", 2): (ap.bicubic_interp, "NCHW"),
                 ("trilinear", 3): (ap.trilinear_interp, "NCHW")}
    only(operators.get((mode, dims)), "this interpolation of so many dims")
    operator, data_format = operators[mode, dims]
    scale = []
    if size is None:
        scale = [float(scale_factor)] * dims if isinstance(scale_factor, (int, float)) else list(scale_factor)
        sizes = [math.floor(n * s) for n, s in zip(x.shape[2:], scale)]
    else:
        sizes = tuple_of(size, dims)
    d, h, w = ([0, 0, 0] + sizes)[-3:]
    return operator(x, None, [], None, data_format, d, h, w, scale, mode, bool(align_corners),
                    0 if not align_corners else 1)


for _mode in ("nearest", "linear", "bilinear", "bicubic", "trilinear"):
    call(f"nn.functional.interpolate/{_mode}")(_interpolate)


@call("nn.functional.upsample_nearest")
def upsample_nearest(x, size=None, scale_factor=None):
    return _interpolate(x, size, scale_factor)


@call("nn.functional.upsample_bilinear")
def upsample_bilinear(x, size=None, scale_factor=None):
    return _interpolate(x, size, scale_factor, "bilinear", True)


@call("nn.functional.group_norm")
def group_norm(x, num_groups, weight=None, bias=None, eps=1e-5):
    return ap.group_norm(x, weight, bias, eps, num_groups)


@call("native_group_norm", pick=lambda result: result[0])
def native_group_norm(x, weight, bias, n, channels, size, groups, eps):
    return ap.group_norm(x, weight, bias, eps, groups)


@call("nn.functional.instance_norm")
def instance_norm(x, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1,
                  eps=1e-5):
    only(use_input_stats, "running statistics")
    return ap.instance_norm(x, weight, bias, eps)


def _layer_norm(x, shape, weight, bias, eps):
    flat = [None if t is None else ap.reshape(t, [t.size]) for t in (weight, bias)]
    return ap.layer_norm(x, *flat, eps, x.ndim - len(shape))


@call("nn.functional.layer_norm")
def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    return _layer_norm(x, normalized_shape, weight, bias, eps)


@call("native_layer_norm", pick=lambda result: result[0])
def native_layer_norm(x, normalized_shape, weight, bias, eps):
    return _layer_norm(x, normalized_shape, weight, bias, eps)


@call("nn.functional.rms_norm")
def rms_norm(x, normalized_shape, weight=None, eps=None):
    only(len(normalized_shape) == 1 and weight is not None, "several dims, or no scale")
    return ap.rms_norm(x, weight, eps if eps is not None else 1.1920928955078125e-07 if x.dtype == ap.float32
                       else 2.220446049250313e-16)


@call("nn.functional.batch_norm", tolerance=ROUNDED)
def batch_norm(x, running_mean=None, running_var=None, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    only(x.ndim > 1, "images without a batch")
    channels = [x.shape[1]]
    mean = running_mean if running_mean is not None else ap.zeros(channels, x.dtype)
    variance = running_var if running_var is not None else ap.ones(channels, x.dtype)
    return ap.batch_norm(x, mean, variance, weight, bias, not training, momentum, eps, "NCHW", False, False)[0]


@call("nn.functional.nll_loss")
def nll_loss(x, target, weight=None, ignore_index=-100, reduction="mean"):
    return ap.nll_loss(x, target, weight, ignore_index, reduction)[0]


@call("nn.functional.cross_entropy")
def cross_entropy(x, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    only(weight is None and label_smoothing == 0 and x.ndim > 1, "weights, smoothing, or one row")
    soft = target.dtype == x.dtype
    only(reduction != "mean" or (soft and ignore_index < 0), "the mean of those that are not ignored")
    label = target if soft else ap.unsqueeze(target, [1])
    loss = ap.cross_entropy_with_softmax(x, label, soft, True, True, ignore_index, 1)[1]
    if reduction == "mean":
        return loss.sum() / (x.size // x.shape[1])
    return loss.sum() if reduction == "sum" else ap.squeeze(loss, [1])


@call("nn.functional.ctc_loss")
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    only(targets.ndim == 2 and reduction == "none" and not zero_infinity, "reductions")
    lengths = [ap.tensor(n, "int64") if not isinstance(n, ap.Tensor) else n for n in (input_lengths, target_lengths)]
    loss = ap.warpctc(log_probs, ap.cast(targets, "int32"), *lengths, blank)
    return ap.reshape(loss, [loss.size])


@call("nn.functional.scaled_dot_product_attention", tolerance=ROUNDED)
def attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    only(q.ndim == 4 and dropout_p == 0 and scale is None and not enable_gqa, "other forms")
    only(attn_mask is None, "masks")
    only(not is_causal or q.shape[2] == k.shape[2], "causal masks of other than squares, which begin at the end in ours")
    swapped = [ap.transpose(t, [0, 2, 1, 3]) for t in (q, k, v)]
    return ap.transpose(ap.flash_attention(*swapped, causal=is_causal)[0], [0, 2, 1, 3])


@call("stft")
def stft(x, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None,
         return_complex=None):
    only(not center and (win_length or n_fft) == n_fft, "frames that reach over the ends, or are shorter")
    window = ap.ones([n_fft], x.dtype) if window is None else window
    signals = ap.reshape(x, [1, x.size]) if x.ndim == 1 else x
    out = ap.stft(signals, window, n_fft, hop_length or n_fft // 4, normalized, onesided is not False)
    out = ap.squeeze(out, [0]) if x.ndim == 1 else out
    return out if return_complex else ap.as_real(out)
