"""Messages of a transcript, in short."""

from jury_events import Message


def user(text: str) -> Message:
    return Message(kind="user", origin="user", text=text)


def agent(text: str) -> Message:
    return Message(kind="assistant", origin="model", text=text)
