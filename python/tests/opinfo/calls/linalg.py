"""Products and decompositions of matrices. Vectors that are unique up to a factor are compared without it."""

import autophi as ap
from opinfo.calls.arguments import only
from opinfo.registry import ROUNDED, STEEP, call, same

same("bmm", "dot", "mv", tolerance=ROUNDED)


@call("matmul", "mm", tolerance=ROUNDED)
def matmul(x, y):
    return ap.matmul(x, y)


@call("addmm", "addmm/decomposed")
def addmm(x, a, b, beta=1.0, alpha=1.0):
    return ap.addmm(x, a, b, beta, alpha)


@call("einsum")
def einsum(operands, equation):
    return ap.einsum(list(operands), equation)


@call("linalg.multi_dot", tolerance=ROUNDED)
def multi_dot(tensors):
    return ap.multi_dot(list(tensors))


@call("cross")
def cross(x, y, dim=None):
    return ap.cross(x, y) if dim is None else ap.cross(x, y, dim)


@call("linalg.cross")
def linalg_cross(x, y, dim=-1):
    return ap.cross(x, y, dim)


@call("linalg.cholesky")
def cholesky(x, upper=False):
    return ap.cholesky(x, upper)


@call("cholesky_solve")
def cholesky_solve(b, factor, upper=False):
    return ap.cholesky_solve(b, factor, upper)


@call("linalg.det")
def det(x):
    return ap.det(x)


@call("linalg.slogdet")
def slogdet(x):
    both = ap.slogdet(x)
    return list(both)


@call("linalg.eigh", of_both=lambda result: [result[0], result[1].abs()])
def eigh(x, UPLO="L"):
    return ap.eigh(x, UPLO)


@call("linalg.eigvalsh")
def eigvalsh(x, UPLO="L"):
    return ap.eigvalsh(x, UPLO)


def _power_sums(w):
    """What is the same in any order."""
    return [w.sum(-1), (w * w).sum(-1), (w * w * w).sum(-1)]


@call("linalg.eigvals", gradients=False, of_both=_power_sums)
def eigvals(x):
    return ap.eigvals(x)


@call("linalg.inv")
def inv(x):
    return ap.inverse(x)


@call("linalg.lstsq", pick=lambda result: result[0])
def lstsq(a, b, rcond=None, driver=None):
    only(driver in (None, "gels"), "other drivers")
    return ap.lstsq(a, b)[0]


@call("lu")
def lu(x, pivot=True, get_infos=False):
    factors, pivots, infos = ap.lu(x, pivot)
    return [factors, pivots, infos] if get_infos else [factors, pivots]


@call("linalg.lu_factor")
def lu_factor(x, pivot=True):
    return ap.lu(x, pivot)[:2]


@call("lu_unpack")
def lu_unpack(factors, pivots, unpack_data=True, unpack_pivots=True):
    only(unpack_data and unpack_pivots, "some of the results")
    return ap.lu_unpack(factors, pivots)


@call("linalg.matrix_power")
def matrix_power(x, n):
    return ap.matrix_power(x, n)


@call("linalg.matrix_rank", "linalg.matrix_rank/hermitian")
def matrix_rank(x, tol=None, atol=None, rtol=None, hermitian=False):
    only(tol is None and atol is None and rtol is None, "tolerances")
    return ap.matrix_rank(x, 0.0, True, hermitian)


@call("linalg.qr")
def qr(x, mode="reduced"):
    return ap.qr(x, mode)


@call("linalg.solve")
def solve(a, b, left=True):
    only(left, "systems from the right")
    return ap.solve(a, b)


def _without_signs(result):
    """Singular vectors that belong to a value, without their sign."""
    u, s, vh = result
    k = s.shape[-1]
    return [u[..., :, :k].abs(), s, vh[..., :k, :].abs()]


@call("svd", of_both=_without_signs, tolerance=STEEP, pick=lambda result: (result[0], result[1], result[2].mT))
def svd(x, some=True, compute_uv=True):
    only(compute_uv, "singular values alone")
    return ap.svd(x, not some)


@call("linalg.svd", of_both=_without_signs, tolerance=STEEP)
def linalg_svd(x, full_matrices=True):
    return ap.svd(x, full_matrices)


@call("linalg.svdvals")
def svdvals(x):
    return ap.svdvals(x)


@call("triangular_solve", pick=lambda result: result[0], tolerance=ROUNDED)
def triangular_solve(b, a, upper=True, transpose=False, unitriangular=False):
    return ap.triangular_solve(a, b, upper, transpose, unitriangular)


@call("linalg.solve_triangular")
def solve_triangular(a, b, upper, left=True, unitriangular=False):
    only(left, "systems from the right")
    return ap.triangular_solve(a, b, upper, False, unitriangular)
