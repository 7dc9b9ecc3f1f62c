"""Agreement between labellers, by the libraries of record: statsmodels for Cohen, krippendorff for Krippendorff."""

from collections.abc import Sequence

from msgspec import Struct


class Agreement(Struct, frozen=True, kw_only=True):
    """Agreement on nominal labels. Null where there is nothing to compare, or only one label was ever given."""

    items: int
    agreed: int
    share: float | None
    cohen: float | None
    krippendorff: float | None


def agreement(pairs: Sequence[tuple[str, str]]) -> Agreement:
    """Agreement of two labellers over the items that both labelled."""
    agreed = sum(a == b for a, b in pairs)
    labels = sorted({label for pair in pairs for label in pair})
    varied = len(labels) > 1
    return Agreement(
        items=len(pairs),
        agreed=agreed,
        share=agreed / len(pairs) if pairs else None,
        cohen=_cohen(pairs, labels) if varied else None,
        krippendorff=_krippendorff(pairs, labels) if varied else None,
    )


def _cohen(pairs: Sequence[tuple[str, str]], labels: Sequence[str]) -> float:
    import numpy as np
    from statsmodels.stats.inter_rater import cohens_kappa  # type: ignore[import-untyped]  # it ships no types

    place = {label: i for i, label in enumerate(labels)}
    table = np.zeros((len(labels), len(labels)))
    for a, b in pairs:
        table[place[a], place[b]] += 1
    return float(cohens_kappa(table, return_results=False))


def _krippendorff(pairs: Sequence[tuple[str, str]], labels: Sequence[str]) -> float:
    import krippendorff
    import numpy as np

    place = {label: i for i, label in enumerate(labels)}
    data = np.array([[place[a] for a, _ in pairs], [place[b] for _, b in pairs]], dtype=float)
    return float(krippendorff.alpha(reliability_data=data, level_of_measurement="nominal"))
