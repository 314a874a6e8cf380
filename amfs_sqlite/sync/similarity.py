"""Which stored vectors point the way another one does: exactly, by the cosine."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

NUMBERS_AT_ONCE = 4 * 1024 * 1024
"""How many numbers are compared together: 32 MB of them, and as much again while they are."""

Numbers = NDArray[np.float64]


def nearest(
    vectors: Iterable[Sequence[tuple[int, bytes]]],
    query: Sequence[float],
    *,
    min_similarity: float,
    limit: int,
) -> list[tuple[int, float]]:
    """The ids of the vectors whose similarity is highest, and it, highest first; of equal ones those that
    came first.

    ``vectors`` are ids with vectors of the query's dimension, single precision and little-endian.
    """
    wanted = np.asarray(query, dtype=np.float64)
    ids: list[int] = []
    similarities = [np.zeros(0)]
    for block in vectors:
        ids += (each for each, _ in block)
        stored = np.frombuffer(b"".join(vector for _, vector in block), dtype="<f4")
        similarities.append(cosines(stored.reshape(len(block), len(wanted)).astype(np.float64), wanted))
    found = np.concatenate(similarities)
    order = np.argsort(-found, kind="stable")
    first = order[found[order] >= min_similarity][:limit]
    return [(ids[place], float(found[place])) for place in first]


def cosines(rows: Numbers, wanted: Numbers) -> Numbers:
    """The cosine of each row with another vector; 0 where one of the two has no length.

    Row by row in the same order of operations, so that equal rows are equally similar.

    >>> cosines(np.array([[3.0, 4.0], [0.0, 0.0]]), np.array([1.0, 0.0])).tolist()
    [0.6, 0.0]
    """
    with np.errstate(all="ignore"):
        products = np.einsum("ij,j->i", rows, wanted)
        squares = np.einsum("ij,ij->i", rows, rows)
        lengths = np.sqrt(np.einsum("j,j->", wanted, wanted)) * np.sqrt(squares)
        return np.where(lengths == 0, 0.0, products / lengths)
