"""Shapes, pieces, orders of dims, and joining."""

import math

import autophi as ap
from opinfo.calls.arguments import axes_of, only, wrapped
from opinfo.registry import call


def _dims(shape):
    return list(shape[0]) if shape and not isinstance(shape[0], int) else list(shape)


@call("reshape", "view", "view_copy")
def reshape(x, *shape):
    return ap.reshape(x, _dims(shape))


@call("reshape_as", "view_as")
def reshape_as(x, other):
    return ap.reshape(x, other.shape)


@call("ravel")
def ravel(x):
    return ap.reshape(x, [x.size])


@call("flatten")
def flatten(x, start_dim=0, end_dim=-1):
    return ap.flatten(x, start_dim, end_dim)


@call("unflatten")
def unflatten(x, dim, sizes):
    dim = wrapped(dim, x.ndim)
    sizes = list(sizes)
    if -1 in sizes:
        sizes[sizes.index(-1)] = x.shape[dim] // -math.prod(sizes)
    return ap.reshape(x, [*x.shape[:dim], *sizes, *x.shape[dim + 1:]])


@call("squeeze", "squeeze/multiple", "squeeze_copy")
def squeeze(x, dim=None):
    only(dim is None or axes_of(dim), "no dims, where ours are all then")
    return ap.squeeze(x, axes_of(dim))


@call("unsqueeze", "unsqueeze_copy")
def unsqueeze(x, dim):
    return ap.unsqueeze(x, [dim])


@call("transpose", "transpose_copy")
def transpose(x, dim0, dim1):
    order = list(range(x.ndim))
    if order:
        order[dim0], order[dim1] = order[dim1], order[dim0]
    return ap.transpose(x, order)


@call("permute", "permute_copy")
def permute(x, *dims):
    return ap.transpose(x, _dims(dims))


@call("T", "t", "t_copy")
def transposed(x):
    return ap.transpose(x, list(range(x.ndim))[::-1])


@call("mT", "mH")
def matrices_transposed(x):
    return ap.transpose(x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


@call("movedim")
def movedim(x, source, destination):
    source = [wrapped(dim, x.ndim) for dim in axes_of(source)]
    destination = [wrapped(dim, x.ndim) for dim in axes_of(destination)]
    rest = iter(dim for dim in range(x.ndim) if dim not in source)
    order = [source[destination.index(dim)] if dim in destination else next(rest) for dim in range(x.ndim)]
    return ap.transpose(x, order)


@call("expand", "expand_copy", "broadcast_to")
def expand(x, *shape, implicit=False):
    return ap.expand(x, _dims(shape))


@call("expand_as")
def expand_as(x, other):
    return ap.expand_as(x, other)


@call("broadcast_tensors")
def broadcast_tensors(*tensors):
    return ap.broadcast_tensors(list(tensors))


@call("meshgrid/variadic_tensors")
def meshgrid(*tensors, indexing="ij"):
    only(indexing == "ij", "columns first")
    return ap.meshgrid(list(tensors))


@call("meshgrid/list_of_tensors")
def meshgrid_of_list(tensors, indexing="ij"):
    return meshgrid(*tensors, indexing=indexing)


@call("cat")
def cat(tensors, dim=0):
    return ap.concat(tensors, dim)


@call("stack")
def stack(tensors, dim=0):
    return ap.stack(tensors, dim)


@call("split", "unsafe_split")
def split(x, size, dim=0):
    whole, rest = divmod(x.shape[dim], size)
    return ap.split(x, [size] * whole + [rest] * (rest > 0), dim)


@call("split/list_args", "split_with_sizes", "split_with_sizes_copy")
def split_with_sizes(x, sizes, dim=0):
    return ap.split(x, list(sizes), dim)


@call("chunk", "unsafe_chunk")
def chunk(x, chunks, dim=0):
    return split(x, max(1, -(-x.shape[dim] // chunks)), dim)


@call("unbind", "unbind_copy")
def unbind(x, dim=0):
    return ap.unbind(x, dim)


@call("narrow", "narrow_copy")
def narrow(x, dim, start, length):
    start = wrapped(int(start), x.shape[dim])
    return ap.slice(x, [dim], [start], [start + length])


@call("select")
def select(x, dim, index):
    index = wrapped(index, x.shape[dim])
    return ap.slice(x, [dim], [index], [index + 1], [], [wrapped(dim, x.ndim)])


@call("slice")
def slice_(x, dim=0, start=None, end=None, step=1):
    bound = [start or 0, x.shape[dim] if end is None else end]
    return ap.strided_slice(x, [dim], [bound[0]], [bound[1]], [step])


@call("slice_scatter")
def slice_scatter(x, value, dim=0, start=None, end=None, step=1):
    only(step == 1, "steps")
    return ap.slice_scatter(x, value, [dim], [start or 0], [x.shape[dim] if end is None else end])


@call("select_scatter")
def select_scatter(x, value, dim, index):
    index = wrapped(index, x.shape[dim])
    return ap.slice_scatter(x, value, [dim], [index], [index + 1], [wrapped(dim, x.ndim)])


@call("flip")
def flip(x, dims):
    return ap.flip(x, axes_of(dims))


@call("fliplr")
def fliplr(x):
    return ap.flip(x, [1])


@call("flipud")
def flipud(x):
    return ap.flip(x, [0])


@call("roll")
def roll(x, shifts, dims=()):
    return ap.roll(x, axes_of(shifts), axes_of(dims))


@call("tile")
def tile(x, dims):
    return ap.tile(x, dims)


@call("repeat")
def repeat(x, *repeats):
    return ap.tile(x, _dims(repeats))


@call("repeat_interleave")
def repeat_interleave(x, repeats, dim=None, output_size=None):
    if dim is None:
        x, dim = ap.reshape(x, [x.size]), 0
    if isinstance(repeats, int):
        return ap.repeat_interleave(x, repeats, dim)
    return ap.repeat_interleave_with_tensor_index(x, repeats, dim)


@call("tril")
def tril(x, diagonal=0):
    return ap.tril(x, diagonal)


@call("triu")
def triu(x, diagonal=0):
    return ap.triu(x, diagonal)


@call("diag")
def diag(x, diagonal=0):
    return ap.diag(x, diagonal)


@call("diag_embed")
def diag_embed(x, offset=0, dim1=-2, dim2=-1):
    return ap.diag_embed(x, offset, dim1, dim2)


@call("diagonal", "diagonal_copy")
def diagonal(x, offset=0, dim1=0, dim2=1):
    return ap.diagonal(x, offset, dim1, dim2)


@call("linalg.diagonal")
def linalg_diagonal(x, offset=0, dim1=-2, dim2=-1):
    return ap.diagonal(x, offset, dim1, dim2)


@call("diagonal_scatter")
def diagonal_scatter(x, value, offset=0, dim1=0, dim2=1):
    return ap.fill_diagonal_tensor(x, value, offset, dim1, dim2)


@call("unfold", "unfold_copy")
def unfold(x, dimension, size, step):
    return ap.tensor_unfold(x, dimension, size, step)


@call("as_strided", "as_strided_copy")
def as_strided(x, size, stride, storage_offset=0):
    return ap.as_strided(x, size, stride, storage_offset or 0)


@call("constant_pad_nd")
def constant_pad(x, pad, value=0):
    only(min(pad, default=0) >= 0, "negative widths")
    widths = [0] * (2 * x.ndim)
    for n in range(len(pad) // 2):
        dim = x.ndim - 1 - n
        widths[2 * dim:2 * dim + 2] = pad[2 * n:2 * n + 2]
    return ap.pad(x, widths, value)


@call("nn.functional.pad/constant")
def pad_constant(x, pad, mode="constant", value=None):
    return constant_pad(x, pad, value or 0)


@call("nn.functional.pad/reflect", "nn.functional.pad/replicate", "nn.functional.pad/circular")
def pad_of_image(x, pad, mode="constant", value=None):
    only(x.ndim == 5 and len(pad) == 6, "tensors of other than three spatial dims")
    return ap.pad3d(x, list(pad), mode)


@call("gather")
def gather(x, dim, index, sparse_grad=False):
    return ap.take_along_axis(x, index, dim)


@call("take_along_dim")
def take_along_dim(x, indices, dim=None):
    only(dim is not None, "flat tensors")
    others = [n for n in range(x.ndim) if n != wrapped(dim, x.ndim)]
    only([x.shape[n] for n in others] == [indices.shape[n] for n in others], "indices that are expanded")
    return ap.take_along_axis(x, indices, dim)


@call("scatter")
def scatter(x, dim, index, source, reduce=None):
    only(isinstance(source, ap.Tensor), "one number for all")
    return ap.put_along_axis(x, index, source, dim, {None: "assign", "add": "add", "multiply": "mul"}[reduce])


@call("scatter_add")
def scatter_add(x, dim, index, source):
    return ap.put_along_axis(x, index, source, dim, "add")


@call("scatter_reduce/sum", "scatter_reduce/prod", "scatter_reduce/mean", "scatter_reduce/amin",
      "scatter_reduce/amax")
def scatter_reduce(x, dim, index, source, reduce, include_self=True):
    ours = {"sum": "add", "prod": "mul"}.get(reduce, reduce)
    return ap.put_along_axis(x, index, source, dim, ours, include_self)


@call("index_select")
def index_select(x, dim, index):
    return ap.index_select(x, index, dim)


@call("index_add")
def index_add(x, dim, index, source, alpha=1):
    return ap.index_add(x, index, source if alpha == 1 else source * alpha, dim)


@call("index_put")
def index_put(x, indices, values, accumulate=False):
    return ap.index_put(x, list(indices), values, accumulate)


@call("masked_select")
def masked_select(x, mask):
    return ap.masked_select(x, mask)


@call("nonzero")
def nonzero(x, as_tuple=False):
    only(not as_tuple, "one tensor per dim")
    return ap.nonzero(x)


@call("argwhere")
def argwhere(x):
    return ap.nonzero(x)


@call("__getitem__")
def getitem(x, index):
    return x[index]


@call("take")
def take(x, index):
    return ap.take_along_axis(ap.reshape(x, [x.size]), ap.reshape(index, [index.size]), 0).reshape(index.shape)
