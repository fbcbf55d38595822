"""Amounts of money as people write them."""


def dollars(amount: float) -> str:
    """As people write it, with more digits where cents say too little."""
    return f"${amount:,.2f}" if amount >= 1 or not amount else f"${amount:.4f}"
