"""A panel without seats that do not judge a case: those of the family of the judged agent (`Panel.own_family`)."""

from collections.abc import Collection

from jury_debate.errors import PanelError
from jury_debate.panel_spec import ResolvedPanel
from jury_events.panel import LeftOut


def without_seats(resolved: ResolvedPanel, juror_ids: Collection[str]) -> ResolvedPanel:
    """The panel without these seats, which says so; a quorum of more seats than are left is all of them.

    Raises:
        PanelError: no seat is left.
    """
    if not juror_ids:
        return resolved
    panel = resolved.panel
    seats = tuple(seat for seat in panel.seats if seat.juror_id not in juror_ids)
    if not seats:
        raise PanelError("own_family: leave-out: every seat is of the family of the judged agent, so none is left")
    discussion = panel.discussion
    base = tuple(one for one in discussion.speakers.base if one not in juror_ids)
    stop = panel.stop and panel.stop.changed(order=tuple(one for one in panel.stop.order if one not in juror_ids))
    left = panel.changed(
        seats=seats,
        discussion=discussion.changed(speakers=discussion.speakers.changed(base=base)),
        final=panel.final.changed(quorum=min(panel.final.quorum, len(seats))),
        stop=stop,
        left_out=tuple(
            LeftOut(juror_id=one, model=panel.seat(one).model) for one in panel.juror_ids if one in juror_ids
        ),
    )
    prompts = {juror_id: text for juror_id, text in resolved.role_prompts.items() if juror_id not in juror_ids}
    return resolved._replace(panel=left, role_prompts=prompts)
