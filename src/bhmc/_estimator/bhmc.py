"""`BHMC`: the scikit-learn face. Wiring and validation, no mathematics."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from bhmc._compiled.blas_threads import one_blas_thread
from bhmc._estimator.arviz_export import ArvizExport
from bhmc._estimator.chain_run import common_draws
from bhmc._estimator.checkpoint import BETWEEN_CHECKPOINTS
from bhmc._estimator.counts import Counts
from bhmc._estimator.description import Description
from bhmc._estimator.displays import Displays
from bhmc._estimator.fitted import Fitted
from bhmc._estimator.log_lines import log_choice, log_fit
from bhmc._estimator.parameters import Parameters
from bhmc._estimator.pilot_families import note_on_gaps
from bhmc._estimator.point_estimate import described, point_estimate, scores_of_rows
from bhmc._estimator.profiles import feature_blocks, word_features
from bhmc._estimator.progress import CallbackSupport, Listener, with_callbacks
from bhmc._estimator.rows_elsewhere import in_memory, rows_elsewhere
from bhmc._estimator.rows_of_fit import Shown
from bhmc._estimator.running import chosen_by_data, run_task, task_of
from bhmc._estimator.sizes import AUTO, start_for, warmup_of_sample
from bhmc._estimator.table_reading import Given, categories_by_name, read_for_fit, with_families
from bhmc._estimator.warm_start import Going
from bhmc._validation.column_plan import ColumnPlan
from bhmc._validation.errors import naming_columns
from bhmc._validation.init import check_init
from bhmc._validation.parameters import seed_sequence
from bhmc.likelihoods import Likelihood, kind_of, resolve
from bhmc.posterior.advice import longer, warn_if_not_converged
from bhmc.posterior.dendrogram import component_dendrogram
from bhmc.posterior.draws import Draws
from bhmc.posterior.family_evidence import FamilyEvidence
from bhmc.posterior.recorder import WarmupTraces, collect, collect_warmup
from bhmc.tree import Tree
from bhmc.tree.node_features import NodeFeatures, node_features


class BHMC(
    ArvizExport,
    Description,
    Displays,
    Counts,
    Parameters,
    Fitted,
    CallbackSupport,
    ClusterMixin,
    BaseEstimator,
):
    """Bayesian hierarchical mixture clustering.

    Infers a tree of clusters without being told how many there are. Every node of the tree is a
    mixture over components shared by the whole tree; the posterior is sampled by Markov chain Monte
    Carlo, and the tree nearest to all draws is the point estimate.

    Parameters
    ----------
    n_levels : int, default=3
        L, the number of steps from the root to a leaf.
    transition : str or Transition, default="auto"
        How a child's components relate to its parent's. "hdp" is the paper's: a hierarchical
        Dirichlet process ties a node's mixing weights to its parent's. "diffused": locations are
        Gaussian steps away from the parent's, components from their leaf's, so that near components
        share a branch. "gaussian": the same, and a leaf is a component. "auto" is "diffused" where
        the family has components with a place on the tree, and "hdp" otherwise: for counts of words
        (sparse X), Poisson and components with variances of their own, and with `fixed_components`,
        `hyper="paper"`, moves of "hdp" or another sampler than "gibbs". `transition_` says what was
        used.
    likelihood : str or object of bhmc.likelihoods, default="auto"
        What a component looks like. "auto" takes "bernoulli" for a table of 0 and 1, "multinomial"
        for counts of words (and whenever X is sparse), and "shaped_gaussian" or "tailed_gaussian"
        for other numbers ("shared_gaussian" where entries are missing). Where d columns of numbers
        have 5 d (d + 1) rows or more, it takes "tied_gaussian", "shaped_gaussian",
        "shared_gaussian" or "full_gaussian", whichever held-out rows prefer (`family_evidence_`);
        "full_gaussian" comes with "hdp", if `transition` is "auto". With `transition="hdp"` it
        takes "spherical_gaussian" for numbers of one kind (pixels, ratings, principal components)
        and "gaussian" for other numbers. In a frame it chooses for every column, and takes
        "categorical" for text. A name takes its scales from the data; an object such as
        `Gaussian(sigma2=0.5)` is used as it is. `likelihood_` says what was used.
    columns : dict, optional
        What columns of a frame are, by name: "number", "category", "truth", "date" (fitted as days
        since 1970), "id" (names the rows, is not fitted) or "drop". The index of a pandas frame
        goes by its name, or "index". An array has columns by number, or by `feature_names`. Of
        other columns rules decide, where the likelihood is "auto" (docs/reading-tables.md);
        `column_plan_` says what each was taken for.
    alpha : float, prior, "learn" or "auto", default="auto"
        How readily data open new branches. A number fixes alpha: a row opens a new branch at a node
        of m rows with odds of alpha to m. "auto" is 0.005 where locations diffuse and 0.1 with
        "hdp", which gives trees that can be read. One of `bhmc.priors` is the prior of a learned
        alpha; "learn" is `Gamma(2, 10)`. A learned alpha follows the branches of its own tree, so
        on real tables nearly every row gets a leaf.
    gamma0 : float, prior, "learn" or "auto", default="auto"
        How many components the whole tree spreads over; "learn", which is also "auto", is
        `Gamma(1, 1)`.
    gamma : float, prior, "learn" or "auto", default="auto"
        "hdp": how closely a node's mixture follows its parent's. "learn", which is also "auto", is
        `Gamma(2, 10)`: small values give pure nodes, and without pure nodes the tree shows no
        hierarchy. "diffused": how readily a leaf gets another component; "auto" is 0.005.
    hyper : {"exact", "paper"}, default="exact"
        How the concentrations are learned. "exact" draws them in every sweep. "paper" runs the
        paper's Metropolis-Hastings walk during the warm-up; after the warm-up the concentrations,
        and what the likelihood learns (its `sigma2`), stay fixed. "learn" and "auto" then mean the
        paper's priors, `Gamma(3, 1)`, `Gamma(3.5, 1)` and `Uniform(0, 1.5)`. The paper's
        sigma2 ~ U(0, 0.1) is `likelihood=Gaussian(sigma2=bhmc.priors.Uniform(0, 0.1))`.
    fixed_components : int, optional
        Use the finite form of the model with exactly this many components (`Hyper.n_components`;
        scikit-learn has its own use for that name in an estimator).
    sampler : {"auto", "gibbs", "blocked", "mh", "paper"}, default="auto"
        "gibbs" (one row after the other), "blocked" (most rows at once, on several threads) and
        "mh" are exact; "paper" is the published algorithm to the letter, which is not. "auto" is
        "gibbs", and "blocked" from 20,000 rows on.
    moves : "auto" or tuple of str, default="auto"
        Moves of many rows at once in every sweep, exact, beside those of single rows: "relocate"
        (rows of one leaf and component go elsewhere), "regraft" (subtrees get other parents),
        "dishes" (parts of components join others), "split" (a component splits or joins another).
        Those of "diffused" are "split" (components of a leaf), "branch" (a component splits off to
        a branch of its own, or comes back), "atom" and "subtree" (components and subtrees get other
        parents), "regroup" (nodes split and merge), "steps" (variances) and "shift" (nodes of 0 and
        1 or categories, with all below them).
        "auto": all that transition and sampler have; `sampler="paper"` has none. (): none.
    init : str or array, default="auto"
        One of "prior", "single", "singletons", "kmeans", "ward", "sample", or labels. "auto" is
        "kmeans", and "sample" from 50,000 rows on: a chain of a sample of the rows comes first, and
        all rows are placed at its components. After enough sweeps the start makes no difference.
        "prior" draws tree and components from the prior. "single" puts all rows into one leaf and
        component, "singletons" each into its own. "kmeans" and "ward" start from more groups than
        one expects, in nested levels, with different groups in every chain. An array of labels (n,)
        or (n, m), coarse to fine, gives the nodes of the first m levels of every chain; its finest
        labels are the components.
    n_warmup : int, default=200
        Sweeps discarded at the start of each chain; at least so many, if `n_draws` is "auto". With
        `init="sample"` the sweeps of the sample stand for three quarters, but for no more than 150.
    n_draws : int or "auto", default="auto"
        Draws kept of each chain. "auto" keeps 300 and runs until the chains agree: until R-hat and
        the effective draws of every number of `diagnostics_` pass. The decision is made after 500,
        800, 1,400, 2,600, 5,000 and 9,800 sweeps, the last in any case, and no later than 3 million
        redrawn rows of a chain, 12 million with 16 components or fewer (but after 500 sweeps). The
        300 draws begin where the decision before the last was made: about a third of the sweeps is
        warm-up. Where locations diffuse a sweep counts for 4: 2,600 sweeps are the most. So the
        answer depends on nothing but data and seed. With `hyper="paper"` "auto" is 300, with
        `init="sample"` it is 100 at first.
    thin : int, default=1
        Sweeps from one kept draw to the next; at first, if `n_draws` is "auto".
    max_seconds : float, optional
        Chains end after this time at the latest. The answer then depends on the speed of the
        machine, and `ended_by_` is "max_seconds".
    warm_start : bool, default=False
        Whether a further `fit` to the same data with the same settings goes on with the chains of
        the last one. It adds `n_draws` draws to each chain; with "auto", the next round of draws
        takes the place of those before. Chains are not saved with a model, nor pickled: use
        `checkpoint` to go on in another process.
    n_chains : int, default=2
        Independent chains, each with a seed spawned from `random_state`.
    n_jobs : int, optional
        Chains run at the same time: threads, or processes within
        `joblib.parallel_config("loky")`. The answer does not depend on `n_jobs`.
    precision : {"float64", "float32"}, default="float64"
        Type of the likelihood tables. "float32" has errors of log likelihoods of at most
        about 1e-3; data far wider than the noise are refused. docs/cost.md has the gain in speed.
    estimate : {"vi", "map"}, default="vi"
        What the point estimate is. "vi" is the tree nearest to all draws, by the expected variation
        of information of components and levels: the nearest draws, improved row by row and node by
        node (up to 20,000 rows; the nearest draw where there are more). Weights and component
        parameters are then drawn given that tree and its components. "map" is the most likely draw,
        as in the paper, which is an extreme rather than a typical draw.
    keep : {"auto", "paths", "summary"}, default="auto"
        Whether the tree and the components of all draws are kept ("paths": chains x draws x rows x
        4 bytes), or only those of draws evenly spaced, within 32 MB ("summary"). "auto" keeps all
        that take up to 256 MB.
    checkpoint : path, optional
        Chains are saved now and then in files of this name with `.0`, `.1`, ... appended. A later
        fit with the same settings and data, or more draws, resumes from these files; a resumed
        chain equals an uninterrupted one, bit for bit. Beside each file the one before is kept
        (`.0.before`), for the case that the newest is damaged. A file that cannot be written, on a
        full disk say, is a `CheckpointWarning`, and the chain goes on.
    checkpoint_interval : float, default=30.0
        Seconds from one save of a chain to the next; more where saving takes long, so that it takes
        2 % of the time, the save at the end not counted.
    progress : bool, default=False
        Show a bar of sweeps, time left, log joint, nodes and components, on a terminal or in a
        notebook. Elsewhere, in the log of a batch system say, write a plain line to standard error
        at least every 30 seconds: sweeps, time left, the worst R-hat so far, nodes and components.
    random_state : int, SeedSequence, Generator or RandomState, optional
        Seed of everything.

    Attributes
    ----------
    tree_ : Tree
        The point estimate (see `estimate`), with two numbers for every node: `support`, the mean
        over kept draws of the best Jaccard match of the node's rows and a node of the draw, and
        `exact_support`, the share of kept draws that have a node of exactly the same rows.
    dendrogram_ : Tree
        Which components are near each other: a summary of the draws, not a part of the model. Its
        tips are the components of `tree_`, its heights are nats of log likelihood lost when groups
        share one parameter (the mean over draws), and its support is that of the same groups in
        the dendrograms of the draws. `dendrogram_.cut(8)` gives 8 clusters.
    labels_ : (n,) array
        Leaf of each row in the point estimate, 0..n_leaves-1: the index into `tree_.leaves`, which
        holds the leaves' node ids. `tree_.leaves[labels_]` equals `paths_[:, -1]`.
    n_clusters_ : int
        Clusters of `labels_`: leaves of `tree_`.
    paths_ : (n, n_levels + 1) array
        Node ids of each row's path in `tree_`, root first.
    component_labels_ : (n,) array
        Mixture component of each row in the point estimate.
    outlier_scores_ : (n,) array
        How unusual each row is, from 0 to 1: 1 minus the posterior predictive tail probability of
        its density. The row is scored without itself: a score of 0.99 says that 99 % of new rows
        would be more probable than this one, as the other rows see it. Scores are those of rows of
        the fit, NaN for one without any entry; `outlier_scores` scores new rows, and
        `score_samples` has the log density of any row. The estimator is
        `bhmc.posterior.outlier_scores`.
    node_features_ : NodeFeatures
        What sets each node of `tree_` apart, for `describe`.
    draws_ : Draws
        Numbers of every draw, (chain, draw), and the partitions that were kept.
    diagnostics_ : Diagnostics
        Whether chains agree, number by number; `print(model.diagnostics_)`. A fit that has not
        converged says so in a `ConvergenceWarning`.
    path_support_ : (n, n_levels + 1) array
        How sure each row's place is, level by level: as the support of its node, but only nodes of
        the draw that hold the row count.
    ended_by_ : str
        What ended the chains: "n_draws", "converged" or "max_sweeps" (with `n_draws="auto"`, where
        they agree or where they do not at the last decision), "max_seconds" or "interrupt".
    n_sweeps_, n_warmup_, thin_ : int
        Sweeps made by each chain, sweeps before the window of the kept draws, and sweeps from one
        of them to the next. As parameters, with `n_draws=300`, the last two give the same draws.
    n_iter_ : int
        `n_sweeps_`, under the name that scikit-learn gives it.
    interrupted_ : bool
        Whether Ctrl-C (or a callback) ended the chains before all draws were made.
    warmup_traces_ : WarmupTraces
        With `hyper="paper"` only: the hyperparameters `learned` by name, (chain, sweep), and
        `shared`, (chain, sweep, number), of every sweep of the warm-up.
    transition_ : Transition
        The transition that was fitted, with what it chose by the data (`transition_.kappa`).
    likelihood_ : object of bhmc.likelihoods
        The family that was fitted; `likelihood_.describe()` says in one line which columns have
        which family.
    family_evidence_ : FamilyEvidence or None
        Which families of numbers `likelihood="auto"` tried, and the log density of held-out rows
        under each; None where it tried none. `str(family_evidence_)` is one sentence.
    family_note_ : str
        Why it tried none, where rows with missing numbers are the reason; "" elsewhere.
    column_plan_ : ColumnPlan
        What every column of a frame was taken for, with which family; `print(column_plan_)` has a
        line for each kind of column, `column_plan_.to_frame()` a row for each column.
    categories_ : dict
        The categories of every column of text, in the order of their codes, by the column's name
        (its number where it has none). Empty where X was no frame.
    item_names_ : (n,) array
        Names of the rows, where X was a frame with an index of text or a column of ids.
    n_features_in_ : int
        Columns seen in `fit`.
    feature_names_in_ : (n_features_in_,) array
        Their names, where X had string column names.
    feature_names_ : array
        Names of the columns that were fitted, where they have some: those of the frame without ids
        and what was dropped, or `feature_names`.

    Examples
    --------
    >>> import numpy as np
    >>> from bhmc import BHMC
    >>> X = np.array([-3.2, -3.1, -3.0, -2.9, -2.8, 2.8, 2.9, 3.0, 3.1, 3.2])[:, None]
    >>> model = BHMC(n_levels=1, random_state=0).fit(X)
    >>> model.component_labels_
    array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1], dtype=int32)
    """

    def __init__(
        self,
        n_levels: int = 3,
        *,
        transition: Any = AUTO,
        likelihood: Any = "auto",
        columns: Any = None,
        alpha: Any = "auto",
        gamma0: Any = "auto",
        gamma: Any = "auto",
        hyper: str = "exact",
        fixed_components: int | None = None,
        sampler: str = AUTO,
        moves: Any = "auto",
        init: Any = AUTO,
        n_warmup: int = 200,
        n_draws: int | str = AUTO,
        thin: int = 1,
        max_seconds: float | None = None,
        warm_start: bool = False,
        n_chains: int = 2,
        n_jobs: int | None = None,
        precision: str = "float64",
        estimate: str = "vi",
        keep: str = "auto",
        checkpoint: Any = None,
        checkpoint_interval: float = BETWEEN_CHECKPOINTS,
        progress: bool = False,
        random_state: Any = None,
    ):
        self.n_levels = n_levels
        self.transition = transition
        self.likelihood = likelihood
        self.columns = columns
        self.alpha = alpha
        self.gamma0 = gamma0
        self.gamma = gamma
        self.hyper = hyper
        self.fixed_components = fixed_components
        self.sampler = sampler
        self.moves = moves
        self.init = init
        self.n_warmup = n_warmup
        self.n_draws = n_draws
        self.thin = thin
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.n_chains = n_chains
        self.n_jobs = n_jobs
        self.precision = precision
        self.estimate = estimate
        self.keep = keep
        self.checkpoint = checkpoint
        self.checkpoint_interval = checkpoint_interval
        self.progress = progress
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any = None, *, feature_names: Any = None) -> "BHMC":
        """Sample the posterior of the hierarchy of the rows of X.

        Ctrl-C stops the chains: the draws so far are the fit, and `interrupted_` is True; with
        `n_draws="auto"` the draws of the last whole round are, where there is one. Before the first
        draw, Ctrl-C raises KeyboardInterrupt.

        Parameters
        ----------
        X : (n, d) array or frame
            Data, at least two rows. A frame of pandas or polars, or any Arrow table, may have
            columns of text where the likelihood is "auto", "categorical" or a `Product` with a
            categorical part. An index of text names the rows. A memory map, a table of
            `bhmc.rows.open_rows` and a Dask array or frame stay where they are, from 50,000 rows
            on; the tree then holds evenly spaced rows, 20,000 at most.
        y : ignored
            For scikit-learn's conventions.
        feature_names : sequence of str, optional
            Names of the columns of an array or sparse matrix, such as the words of a vectorizer
            (`get_feature_names_out()`), for `describe`, exports and pictures.
        """
        return self._fit(X, (), feature_names)

    def _fit(self, X, listeners: Sequence[Listener], feature_names=None) -> "BHMC":
        """`fit`, with further listeners to its chains."""
        self._check_parameters()
        X = in_memory(X)
        elsewhere = rows_elsewhere(self, X)
        if elsewhere is not None:
            X = elsewhere.shown.data
            feature_names = elsewhere.names if feature_names is None else feature_names
        given = self._check_data(X, feature_names)
        X, data, columns = given.X, given.data, given.columns
        shown = Shown.of(data) if elsewhere is None else elsewhere.shown
        n_rows = data.shape[0] if elsewhere is None else elsewhere.n_rows
        transition = self._bound_transition(shown.data, columns)
        init = check_init(
            start_for(self, transition, n_rows),
            n_rows=n_rows,
            n_levels=self.n_levels,
            n_components=self.fixed_components,
        )
        # The last digits of products depend on the number of threads.
        with one_blas_thread(), naming_columns(columns.names, columns.origin):
            evidence, transition = self._family_by_evidence(transition, shown.data, columns)
            numbers = evidence and evidence.chosen.likelihood
            note = note_on_gaps(self, transition, shown.data, columns)
            likelihood = resolve(self.likelihood, shown.data, columns, transition.located, numbers)
            family = shown.family(likelihood)
        family.check_precision(self.precision)
        *seeds, estimate_seed, outlier_seed = seed_sequence(self.random_state).spawn(
            self.n_chains + 2
        )
        likelihood, family, transition = chosen_by_data(
            self, likelihood, family, transition, shown.start(init), shown.data
        )
        if family.n_rows != data.shape[0]:
            family = likelihood.prepare(data, shown.summary)
        log_choice((n_rows, data.shape[1]), likelihood, transition)
        task = task_of(self, likelihood, family, transition, init, data, numbers, elsewhere)
        course, going = run_task(self, task, seeds, data, listeners, transition.cost, elsewhere)
        kept = common_draws([one.recorder for one in course.ended])
        if not kept:
            raise KeyboardInterrupt
        # Nothing fitted is set before this: a refusal leaves the estimator as it was.
        validate_data(self, X, skip_check_array=True)  # n_features_in_, feature_names_in_
        if elsewhere is not None and elsewhere.names is not None:
            self.feature_names_in_: NDArray[Any] = np.array(elsewhere.names, dtype=object)
        self._going: Going = going
        self.ended_by_: str = course.by
        self.interrupted_: bool = course.by == "interrupt"
        self.n_sweeps_: int = max(one.made for one in course.chains)
        self.n_warmup_: int = course.task.n_warmup + warmup_of_sample(self, init)
        self.thin_: int = course.task.thin
        self.likelihood_: Likelihood = likelihood
        self.transition_: Any = transition
        self.family_evidence_: FamilyEvidence | None = evidence
        self.family_note_ = note
        self.column_plan_: ColumnPlan = with_families(given.plan, likelihood, data.shape[1])
        self.categories_: dict[Any, list[Any]] = categories_by_name(columns, given.plan)
        if self.hyper == "paper":
            self.warmup_traces_: WarmupTraces = collect_warmup(kept)
        self.draws_: Draws = collect(kept, transition)
        for earlier in ("item_names_", "feature_names_"):
            self.__dict__.pop(earlier, None)
        if columns.names is not None:
            self.feature_names_: NDArray[Any] = np.array(columns.names)
        if given.items is not None:
            self.item_names_: NDArray[Any] = given.items
        with one_blas_thread():
            rng = np.random.default_rng(estimate_seed)
            tree = point_estimate(self, kept, family, transition, rng)
        self.tree_: Tree = described(tree, self.draws_.partitions, data, columns, given.items)
        with one_blas_thread():
            self.dendrogram_: Any = component_dendrogram(self.tree_, self.draws_, family)
            self.node_features_: NodeFeatures = node_features(
                self.tree_,
                partial(feature_blocks, data, columns),
                word_features(likelihood, columns, data.shape[1]),
            )
            self.outlier_scores_: NDArray[np.float64] = scores_of_rows(
                self, kept, data, np.random.default_rng(outlier_seed)
            )
        self.paths_: NDArray[np.int32] = self.tree_.paths
        self.component_labels_: NDArray[np.int32] = self.tree_.components
        self.labels_: NDArray[np.int32] = self.tree_.labels_at(self.tree_.n_levels)
        log_fit(self)
        self._warn(course.seconds)
        return self

    def _warn(self, seconds_per_sweep: float) -> None:
        """Warn if the chains have not converged, with settings that should be long enough."""
        found, ran = self.diagnostics_, {"n_warmup": self.n_warmup_, "thin": self.thin_}
        advice = longer(found, seconds_per_sweep=seconds_per_sweep, **ran)
        warn_if_not_converged(found, advice, stacklevel=5)

    def _check_data(self, X, feature_names=None) -> Given:
        """X as a matrix, and what is known of its columns and rows."""
        return read_for_fit(self, X, feature_names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            kind = kind_of(self.likelihood)
        except (TypeError, ValueError):  # `fit` says what is wrong with it
            return tags
        tags.input_tags.allow_nan = kind.allows_missing
        tags.input_tags.sparse = kind.allows_sparse
        return tags


def fit_listening(model: BHMC, X, listeners: Sequence[Listener]) -> BHMC:
    """`model.fit(X)`, where every listener hears of every sweep of every chain.

    Parameters
    ----------
    model : BHMC
        It is fitted in place and returned.
    X : (n, d) array or frame
        As in `fit`.
    listeners : sequence of functions
        Each is called with (number of the chain, chain, sweeps made); True asks that chain to stop.
    """
    return model._fit(X, listeners)
