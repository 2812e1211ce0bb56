"""p(X | c) of the families whose components share learned numbers: quadrature over those.

As `tests.exact.marginals`: written from the definitions, to judge the families. In the coordinates
y = (x - location) / scale, of three rows and two columns with one entry missing (of a full
covariance none). The factor 1 / scale of each entry is the same for all c, and left out.
"""

import numpy as np
from scipy import stats
from scipy.special import gammaln, roots_hermitenorm, roots_laguerre, roots_legendre

from bhmc.likelihoods import AdaptiveGaussian, ShapedGaussian, SharedGaussian
from tests.exact.marginals import COMPLETE, NUMBERS, Case, groups

LOCATION = np.array([0.2, -0.1])
NOISE, SPREAD = (2.0, 0.5), (1.5, 0.8)
SHAPE = np.array([[1.1, 0.5], [0.5, 0.6]])
SCALES = {"diagonal": np.array([1.2, 0.7]), "spherical": np.array([0.9, 0.9])}


def _columns(covariance: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """(rows that are seen, their y) of both columns."""
    y = (NUMBERS - LOCATION) / SCALES[covariance]
    return [(rows, y[rows, d]) for d in range(2) for rows in [np.flatnonzero(~np.isnan(y[:, d]))]]


def _log_mean(log_f: np.ndarray, *weights: np.ndarray) -> np.ndarray:
    """log E[f] over the last axes of log_f, one for each of the weights."""
    highest = log_f.max()
    f = np.exp(log_f - highest)
    for w in reversed(weights):
        f = f @ w
    return np.log(f) + highest


def shared_gaussian(covariance: str, size: int = 60, least: float = 0.0) -> Case:
    """Columns y = (x - location) / scale, as `_log_p_columns` has them."""
    log_p_data = _log_p_columns(_columns(covariance), covariance == "spherical", size, least)
    likelihood = SharedGaussian(covariance, LOCATION, SCALES[covariance], *NOISE, *SPREAD, least)
    return Case(likelihood, NUMBERS, log_p_data)


def shaped_gaussian(size: int = 60, least: float = 0.3) -> Case:
    """Columns y = R^-1 (x - location), R R' = shape, with one sigma2 and one sigma0."""
    y = np.linalg.inv(np.linalg.cholesky(SHAPE)) @ (COMPLETE - LOCATION).T
    log_p_data = _log_p_columns([(np.arange(3), column) for column in y], True, size, least)
    return Case(ShapedGaussian(SHAPE, LOCATION, *NOISE, *SPREAD, least), COMPLETE, log_p_data)


def _log_p_columns(columns, together: bool, size: int, least: float):
    """A column is normal given sigma2 and sigma0: sigma2 I + sigma0 [c_i = c_j] + 1.

    The last 1 is the variance of mu0. sigma2 and sigma0 by Gauss-Legendre over their distribution
    functions; of sigma2, the part above its least value. `together`: columns share both.
    """
    noise, spread = NOISE, SPREAD
    u, w = roots_legendre(size)
    u, w = (u + 1) / 2, w / 2
    below = stats.invgamma.cdf(least, noise[0], scale=noise[1])
    sigma2 = stats.invgamma.ppf(below + u * (1 - below), noise[0], scale=noise[1])
    sigma0 = stats.invgamma.ppf(u, spread[0], scale=spread[1])

    def log_column(c, rows, y):
        """(sigma2, sigma0): log density of a column."""
        same = np.equal.outer(np.array(c)[rows], np.array(c)[rows])
        cov = sigma2[:, None, None, None] * np.eye(len(y)) + sigma0[:, None, None] * same + 1.0
        whole = np.linalg.solve(cov, np.broadcast_to(y[:, None], (*cov.shape[:3], 1)))[..., 0]
        return -0.5 * (whole @ y + np.linalg.slogdet(2 * np.pi * cov)[1])

    def log_p_data(c):
        each = [log_column(c, *column) for column in columns]
        if together:
            each = [sum(each)]
        return float(sum(_log_mean(log_f, w, w) for log_f in each))

    return log_p_data


def tied_gaussian(log2_points: int = 15, least: float = 0.1) -> Case:
    """All numbers are normal given sigma2 and sigma0: I x sigma2 + same x sigma0 + 1 x I.

    (x of Kronecker, same = [c_i = c_j]; the last I is the covariance of mu0.) psi, sigma2 and
    sigma0 by Sobol points. Given psi, sigma2^-1 = L A A' L' by Bartlett, L = diag(nu psi)^(-1/2).
    """
    noise, spread = (1.3, 0.5), (1.5, 0.8)
    nu = 1 + 2 * noise[0]
    u = stats.qmc.Sobol(7, seed=0).random_base2(log2_points)
    psi = least + stats.expon.ppf(u[:, :2], scale=noise[1])
    sigma0 = stats.invgamma.ppf(u[:, 2:4], spread[0], scale=spread[1])
    root = np.zeros((len(u), 2, 2))
    root[:, 0, 0], root[:, 1, 1] = np.sqrt(stats.chi2.ppf(u[:, 4:6], [nu, nu - 1])).T
    root[:, 1, 0] = stats.norm.ppf(u[:, 6])
    root /= np.sqrt(nu * psi)[:, :, None]
    sigma2 = np.linalg.inv(root @ np.swapaxes(root, 1, 2))
    y = ((COMPLETE - LOCATION) / SCALES["diagonal"]).ravel()

    def log_p_data(c):
        same = np.equal.outer(np.array(c), np.array(c))
        spreads = same[:, None, :, None] * (sigma0[:, :, None] * np.eye(2))[:, None, :, None, :]
        cov = np.eye(3)[:, None, :, None] * sigma2[:, None, :, None, :] + spreads
        cov = cov.reshape(-1, 6, 6) + np.kron(np.ones((3, 3)), np.eye(2))
        whole = np.linalg.solve(cov, np.broadcast_to(y[:, None], (len(u), 6, 1)))[..., 0]
        log_p = -0.5 * (whole @ y + np.linalg.slogdet(2 * np.pi * cov)[1])
        return float(_log_mean(log_p, np.full(len(u), 1 / len(u))))

    likelihood = SharedGaussian("full", LOCATION, SCALES["diagonal"], *noise, *spread, least)
    return Case(likelihood, COMPLETE, log_p_data)


def log_t(columns: list[np.ndarray], typical, strength, shape) -> np.ndarray:
    """log density of Student t with 2 shape degrees of freedom, at all numbers of `columns`.

    Its scale has a block typical (I + 1 1' / strength) for every column, whose numbers are in the
    last axis of an array: v ~ IG(shape, shape typical) and m_d ~ N(0, v / strength) integrated out.
    """
    n = np.array([column.shape[-1] for column in columns])
    rest = sum(
        (y**2).sum(axis=-1) - y.sum(axis=-1) ** 2 / (strength + y.shape[-1]) for y in columns
    )
    half, wide = n.sum() / 2, 2 * shape * typical
    log_p = gammaln(shape + half) - gammaln(shape) - half * np.log(np.pi * wide)
    log_p = log_p - 0.5 * sum(np.log1p(size / strength) for size in n)
    return log_p - (shape + half) * np.log1p(rest / wide)


def adaptive_gaussian(covariance: str, size: int | None = None, least: float = 0.02) -> Case:
    """A group is Student t given the shared numbers; Gauss quadrature over those.

    mu0 ~ N(0, 1). An exponential above its least value is that value plus an exponential; a
    Gamma(2, 1 / 2) above 1 is 1 + y with density proportional to (1 + y) exp(-y / 2).
    """
    size = size or (24 if covariance == "diagonal" else 16)
    mu0, w_mu0 = roots_hermitenorm(size)
    x, w = roots_laguerre(size)
    shape, w_shape = 1 + 2 * x, w * (1 + 2 * x)
    w_mu0, w_shape = w_mu0 / w_mu0.sum(), w_shape / w_shape.sum()

    def log_p(c, columns):
        """Axes: shape, typical, strength, then mu0 of each of the columns."""
        axes = [shape, least + x / 2, 0.02 + x / 2, *(mu0 for _ in columns)]
        s, t, strength, *centres = np.meshgrid(*axes, indexing="ij", sparse=True)
        total = 0.0
        for group in groups(c):
            away = [
                y[np.isin(rows, group)] - m[..., None]
                for (rows, y), m in zip(columns, centres, strict=True)
            ]
            total = total + log_t(away, t, strength, s)
        return total

    def log_p_data(c):
        columns = _columns(covariance)
        if covariance == "spherical":
            return float(_log_mean(log_p(c, columns), w_shape, w, w, w_mu0, w_mu0))
        # Given shape the columns are independent.
        by_shape = sum(_log_mean(log_p(c, [column]), w, w, w_mu0) for column in columns)
        return float(_log_mean(by_shape, w_shape))

    likelihood = AdaptiveGaussian(covariance, LOCATION, SCALES[covariance], least)
    return Case(likelihood, NUMBERS, log_p_data)
