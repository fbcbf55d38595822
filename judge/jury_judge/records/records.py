"""`Records`: everything that can be done with the debates of a store without calling a model."""

from jury_judge.records.cassettes import CassetteRecords
from jury_judge.records.reading import ListRecords, ReadRecords
from jury_judge.records.replays import ReplayRecords
from jury_judge.records.reviews import ReviewRecords
from jury_judge.records.verification import IntegrityRecords
from jury_judge.records.votes import VoteRecords


class Records(
    ReadRecords,
    ListRecords,
    ReviewRecords,
    VoteRecords,
    ReplayRecords,
    IntegrityRecords,
    CassetteRecords,
):
    """The debates of a store, open for reading in `async with`; other processes may write to it meanwhile.

    Args:
        create: create the store where there is none; else that is an error.
        threads: read in threads, so that the event loop goes on meanwhile. Without, reading blocks the loop, and a
            Ctrl-C ends it at once: for a program that does nothing else, as the command.
        readers: of live events, at most; None: 1,000.
    """
