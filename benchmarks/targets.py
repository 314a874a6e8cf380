"""What a figure should be, and whether it is."""


def verdict(target: str, *, met: bool) -> str:
    """The target as a cell of a table.

    >>> verdict("≤ 2 ×", met=True)
    '[green]≤ 2 × ✓[/green]'
    """
    return f"[green]{target} ✓[/green]" if met else f"[red]{target} ✗[/red]"
