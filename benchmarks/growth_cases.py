"""The cases and the panel of `growth.py`."""

RUN = "run"

QUESTION = "Refund order 17. The parcel arrived open, and the lamp that was in it does not work."
RESPONSE = "The order is 12 days old and the policy allows refunds within 30 days, so I refunded it to the same card."


def case(number: int) -> dict[str, str]:
    """A row of the case file."""
    return {"case_id": f"case-{number:07}", "question": QUESTION, "response": RESPONSE}


def panel(seats: int) -> str:
    """A panel file: so many scripted jurors, no discussion, a majority vote."""
    names = "".join(f"  - {{juror_id: j{n}, role: misuse_detection, model: simulated/reader}}\n" for n in range(seats))
    return f"preset: independent\nseats:\n{names}"
