"""Confusion matrices as tables: what people saw down the side, what the run answered along the top."""

from vlmrec.projections.confusion import Confusion, Matrix
from vlmrec.projections.core import Projected
from vlmrec.report.names import run_names
from vlmrec.report.table import Table, percent


def confusion_tables(projected: Projected[Confusion, None]) -> list[Table]:
    """A table for each party and run; cells that are wrong name their clips below."""
    names = run_names(projected.provenance)
    return [_matrix(matrix, names[matrix.run]) for matrix in projected.result.matrices]


def _matrix(matrix: Matrix, name: str) -> Table:
    cells = {(cell.seen, cell.answered): cell for cell in matrix.cells}
    rows = [
        (seen, *(cells[seen, answered].count if (seen, answered) in cells else 0 for answered in matrix.answered))
        for seen in matrix.seen
    ]
    notes = [
        f"{cell.seen} answered as {cell.answered}: {', '.join(cell.clips[:12])}{' …' if len(cell.clips) > 12 else ''}"
        for cell in matrix.cells
        if cell.seen != cell.answered
    ]
    title = f"{matrix.question_id} / {matrix.party}: {name}, {percent(matrix.accuracy)} of {matrix.items} right"
    return Table(title, ("seen \\ answered", *matrix.answered), rows, notes)
